import { type Context, Hono } from 'hono';
import PostalMime from 'postal-mime';
import * as v from 'valibot';
import { capital, notFound, Refusal, toSentence } from '../../errors.ts';
import { inLanguage, mailFillings, surveyMail } from '../../letters/letter.ts';
import type { Db, Sql } from '../../lib/db/db.ts';
import { compose } from '../../lib/smtp/message.ts';
import { idParam, Uuid } from '../../lib/validation/parse.ts';
import { askedOf, mergeQuestions, translate } from '../../questions/definition.ts';
import { pageOf, thanksFor } from '../../responses/pages.ts';
import { formPage } from '../../responses/view/form.tsx';
import { thanksPage } from '../../responses/view/messages.tsx';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import {
  type Category,
  categories,
  categoryOf,
  isSurveyType,
  scoresInOrder,
  typeFacts,
} from '../../survey-types.ts';
import { readSurveyFields, SurveyFields } from '../../surveys/form-fields.ts';
import type { OrgSurvey } from '../../surveys/queries.ts';
import { NewSurveyInput, type SurveyInput } from '../../surveys/schemas.ts';
import { type AddressedPerson, fillIn, languageFor, piecesOf } from '../../surveys/texts.ts';
import { redirectWith } from '../../web/app/flash.ts';
import { readForm } from '../../web/app/forms.tsx';
import { pageHeaders } from '../../web/headers.ts';
import { languageOf } from '../../web/language.ts';
import { type HtmlPage, renderPage } from '../../web/layout.tsx';
import { findMailSender, listMailContents, type MailContent } from '../queries.ts';
import type { SendProgress } from '../send.ts';
import { exampleReader, findReader, sendTestToMember } from '../test-mail.ts';

type PreviewTools = { db: Db; publicUrl: string; progress: Pick<SendProgress, 'watch'> };

const TestFields = v.object({ contact_id: v.optional(Uuid) });

/** Previews of a survey's pages and emails in frames of the app, and test emails to the member. */
export const previewScreens = (tools: PreviewTools) =>
  new Hono<ScreenEnv>()
    .post('/preview', async (c) => {
      requireRole(c, 'editor');
      const form = await readForm(c, SurveyFields);
      const fields = form.errors ? form.typed : form.values;
      const one = (name: string) => [fields[name] ?? ''].flat()[0] ?? '';
      const scheme = one('preview.scheme') === 'dark' ? 'dark' : 'light';
      const result = v.safeParse(NewSurveyInput, withExamples(readSurveyFields(fields)));
      if (!result.success) {
        return asFrame(
          c,
          messagePage(`No preview yet. ${describeError(result.issues[0])}.`),
          scheme,
        );
      }
      const chosen = one('preview.show');
      const show = chosen === 'thanks' ? one('preview.category') : chosen;
      const shown = { show, language: one('preview.language') };
      const page = await preview(c, tools, { input: result.output, ...shown }).catch(pageOfRefusal);
      return asFrame(c, page, scheme);
    })

    .get('/:id/mail/:contact', async (c) => {
      const orgId = c.var.organization.id;
      const surveyId = idParam(c, 'survey');
      const contactId = idParam(c, 'contact', 'contact');
      const reader = await findReader(tools.db, { orgId, surveyId }, contactId);
      if (!reader) throw notFound('contact');
      const { html } = await previewMail(tools.db, { ...tools, orgId, surveyId, reader });
      return asFrame(c, { html, headers: {} }, 'light');
    })

    .post('/:id/test-mail', async (c) => {
      const editor = requireRole(c, 'editor');
      const surveyId = idParam(c, 'survey');
      const { values } = await readForm(c, TestFields);
      const { email } = c.var.member;
      const { text, kind } = await sendTestToMember(tools, editor, { surveyId, email, ...values });
      const from = values?.contact_id ? `/send${new URL(c.req.url).search}` : '';
      return redirectWith(c, c.req.path.replace(/\/test-mail$/, from), text, kind);
    });

/** Fills empty fields with examples and leaves out unfinished questions, so that an unfinished survey has a preview. */
const withExamples = (input: ReturnType<typeof readSurveyFields>) => ({
  ...input,
  name: input.name || 'Survey',
  question_text:
    input.question_text || (isSurveyType(input.type) ? typeFacts(input.type).question('us') : ''),
  from_name: input.from_name || 'Sender',
  from_email: input.from_email || 'sender@example.com',
  questions: input.questions.filter(isWritten),
});

/** The form sends no text for an archived question. */
const isWritten = (question: ReturnType<typeof readSurveyFields>['questions'][number]) =>
  'text' in question &&
  question.text !== '' &&
  (question.options === undefined || question.options.length >= 2);

const labels: Readonly<Record<string, string>> = {
  question_text: 'Question',
  subject: 'Subject',
  intro: 'Introduction',
  follow_up: 'Question above the comment',
  thanks: 'Thank-you message',
};

function describeError(issue: v.BaseIssue<unknown>): string {
  const [name = '', , translated] = (v.getDotPath(issue) ?? '').split('.');
  const field = name === 'texts' ? (translated ?? '') : name;
  const words = capital(field.replaceAll('_', ' '));
  return `${labels[field] ?? words}: ${issue.message}`;
}

async function preview(
  c: Context<ScreenEnv>,
  { db, publicUrl }: PreviewTools,
  { input, show, language: requested }: { input: SurveyInput; show: string; language: string },
): Promise<HtmlPage> {
  const { texts = {}, subject = null, intro = null, follow_up = null, thanks = null } = input;
  const words = { texts, subject, intro, follow_up, thanks };
  const { audience = null, from_email } = input;
  const survey = { ...input, ...words, audience, reply_to: input.reply_to ?? from_email };
  const shown_in = languageFor(survey, { property: requested });
  const person = readerOf(survey);
  const sender = await findMailSender(db, c.var.organization.id);
  if (show === 'mail') {
    const mailed = { survey: { id: sender.id, ...survey, reminders: [] }, organization: sender };
    const shown = { publicUrl, language: shown_in, reader: person };
    const { html, subject: line } = await readLetter(mailed, shown);
    const title = `<title>${line.replaceAll('<', '&lt;')} · `;
    return { html: html.replace('<title>', title), headers: {} };
  }
  const { id: org_id, name: organization, color, logo = null } = sender;
  const link = { ...survey, org_id, organization, color, logo, shown_in, person };
  const page = pageOf(link);
  if (show === 'questions') {
    const list = (input.questions ?? []).map(({ id: _id, ...question }) => question);
    const questions = askedOf(mergeQuestions([], list, new Set()))
      .map((question) => translate(question, shown_in))
      .map((question) => ({ ...question, text: fillIn(question.text, person) }));
    const { texts } = page.language;
    const asked = { questions, answers: {}, language: shown_in, texts, action: '', finish: '' };
    const answer = { score: typeFacts(input.type).highest, comment: null, at: new Date() };
    return thanksPage({ ...page, answer, questions: asked });
  }
  const category = categories.find((each) => each === show);
  if (!category) return formPage({ ...page, action: '', trapUrl: '', unsubscribeUrl: '' });
  const answer = { score: scoreOf(input.type, category), comment: null, at: new Date() };
  return thanksPage({ ...page, answer, thanks: thanksFor(link, category) });
}

/** Refusals come from the questions, which are checked together after the rest of the form. */
function pageOfRefusal(error: unknown): HtmlPage {
  if (error instanceof Refusal) return messagePage(`No preview yet. ${toSentence(error.message)}`);
  throw error;
}

const scoreOf = (type: SurveyInput['type'], category: Category) =>
  scoresInOrder(type).find((score) => categoryOf(type, score) === category) ?? 0;

/** Example contact whose properties show their own names. */
function readerOf(survey: object): AddressedPerson {
  const properties = piecesOf(JSON.stringify(survey)).flatMap((piece) => {
    const [, name] =
      typeof piece === 'string' ? [] : (/^properties\.(.+)$/.exec(piece.value) ?? []);
    return name === undefined ? [] : [[name, `[${name}]`]];
  });
  return { ...exampleReader, properties: Object.fromEntries(properties) };
}

type PreviewedMail = OrgSurvey & {
  publicUrl: string;
  language?: string | undefined;
  reader?: MailReader;
};

/** Composes a survey email and parses it as a mail program would. */
export async function previewMail(
  sql: Sql,
  { orgId, surveyId, publicUrl, language, reader = exampleReader }: PreviewedMail,
) {
  const [mailed] = await listMailContents(sql, orgId, [surveyId]);
  if (!mailed) throw notFound('survey');
  if (language && language !== mailed.survey.language && !mailed.survey.texts[language]) {
    throw new Refusal('invalid', `the survey has no texts in ${language}`);
  }
  const languages = { property: reader.properties['language'] };
  return await readLetter(mailed, {
    publicUrl,
    language: language ?? languageFor(mailed.survey, languages),
    reader,
  });
}

type MailReader = AddressedPerson & { email?: string };

async function readLetter(
  mailed: MailContent,
  { publicUrl, language, reader }: { publicUrl: string; language: string; reader: MailReader },
) {
  const survey = inLanguage(mailed.survey, language);
  const mail = { survey, organization: mailed.organization, publicUrl };
  // Links in a preview belong to no contact.
  const sendId = '00000000-0000-0000-0000-000000000000';
  const contact = { sendId, email: 'reader@example.com', token: 'preview', ...reader };
  const raw = compose(surveyMail(mail))(mailFillings(mail)(contact, new Date()));
  const { subject = '', text = '', html = '' } = await PostalMime.parse(raw);
  return { subject, text, html };
}

type Scheme = 'light' | 'dark';

/** Renders a page in one color scheme for a sandboxed frame, where it cannot run scripts or submit forms. */
function asFrame(c: Context, { html }: HtmlPage, scheme: Scheme): Response {
  const shown = inScheme(html, scheme).replace(/<script>.*<\/script>/s, '');
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(shown) ?? [];
  const headers = pageHeaders(style, { pictures: true });
  // Emails have inline styles.
  const styles = /<style>.*<body[^>]* style=/s.test(shown) ? "style-src 'unsafe-inline'" : null;
  const policy = headers['Content-Security-Policy']!.replace(
    "frame-ancestors 'none'",
    "frame-ancestors 'self'",
  )
    .replace("form-action 'self'", "form-action 'none'")
    .replace(/style-src [^;]+/, (directive) => styles ?? directive);
  return c.html(shown, 200, { ...headers, 'Content-Security-Policy': `${policy}; sandbox` });
}

/** Pages and emails follow the reader's color scheme. In a preview the form chooses the scheme. */
function inScheme(html: string, scheme: Scheme): string {
  const media = scheme === 'dark' ? 'all' : 'not all';
  return html
    .replace(/@media ?\(prefers-color-scheme: ?dark\)/g, `@media ${media}`)
    .replace(/color-scheme: ?light dark/g, `color-scheme:${scheme}`)
    .replace(/(name="color-scheme" content=)"light dark"/, `$1"${scheme}"`);
}

const messagePage = (text: string): HtmlPage =>
  renderPage({ language: languageOf('en'), title: text, body: <p>{text}</p> });
