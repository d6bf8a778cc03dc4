import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import type { Db } from '../../lib/db/db.ts';
import { logoPath } from '../../organizations/logo.rules.ts';
import { formPage } from '../../responses/view/form.tsx';
import { thanksPage } from '../../responses/view/messages.tsx';
import { type Category, categories, categoryOf, scoresInOrder } from '../../scores.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { type AddressedPerson, fillIn, piecesOf } from '../../surveys/placeholders.ts';
import { SurveyFields, wishOf } from '../../surveys/screens/form-fields.ts';
import { languageFor, type TextsByLanguage, textsIn } from '../../surveys/texts.ts';
import { NewSurveyInput, type NewSurveyWish } from '../../surveys/wish.schemas.ts';
import { readForm } from '../../web/app/read-form.ts';
import { languageOf } from '../../web/language.ts';
import type { HtmlPage } from '../../web/layout.tsx';
import { readLetter } from '../preview.ts';
import { findMailSender } from '../queries.ts';
import { asFrame, remarkPage } from './preview-frame.tsx';

type PreviewTools = { db: Db; publicUrl: string };

/** What contacts of a survey would see, in a frame of the form that it is made with. Nothing is stored or sent. */
export const previewScreens = (tools: PreviewTools) =>
  new Hono<ScreenEnv>().post('/', async (c) => {
    requireRole(c, 'editor');
    const form = await readForm(c, SurveyFields);
    const fields = form.errors ? form.typed : form.values;
    const one = (name: string) => [fields[name] ?? ''].flat()[0] ?? '';
    const scheme = one('preview.scheme') === 'dark' ? 'dark' : 'light';
    const result = v.safeParse(NewSurveyInput, withExamples(wishOf(fields)));
    if (!result.success) {
      return asFrame(c, remarkPage(`Not yet: ${remarkOn(result.issues[0])}.`), scheme);
    }
    const shown = { show: one('preview.show'), language: one('preview.language') };
    return asFrame(c, await preview(c, tools, { wish: result.output, ...shown }), scheme);
  });

/** Fields that are still empty get an example, so that the rest is shown meanwhile. */
const withExamples = (wish: ReturnType<typeof wishOf>) => ({
  ...wish,
  name: wish.name || 'Survey',
  question_text: wish.question_text || 'How likely are you to recommend us?',
  from_name: wish.from_name || 'Sender',
  from_email: wish.from_email || 'sender@example.com',
});

/** Fields whose label is not their name. */
const labels: Readonly<Record<string, string>> = {
  question_text: 'Question',
  subject: 'Subject of the mail',
  intro: 'Before the question, in the mail',
  follow_up: 'Question above the comment',
  thanks: 'Thanks after the answer',
};

/** A complaint by the label of its field, in whichever language the field is. */
function remarkOn(issue: v.BaseIssue<unknown>): string {
  const [name = '', , translated] = (v.getDotPath(issue) ?? '').split('.');
  const field = name === 'texts' ? (translated ?? '') : name;
  const words = field.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());
  return `${labels[field] ?? words}: ${issue.message}`;
}

type ShownPart = { wish: NewSurveyWish; show: string; language: string };

async function preview(
  c: Context<ScreenEnv>,
  { db, publicUrl }: PreviewTools,
  { wish, show, language: wished }: ShownPart,
): Promise<HtmlPage> {
  const texts = (wish.texts ?? {}) as TextsByLanguage;
  const { subject = null, intro = null, follow_up = null, thanks = null } = wish;
  const { audience = null, reply_to: given } = wish;
  const survey = { ...wish, texts, subject, intro, follow_up, thanks, audience };
  const tag = languageFor(survey, { property: wished });
  const reader = readerOf(survey);
  const organization = await findMailSender(db, c.var.organization.id);
  if (show === 'mail') {
    const reply_to = given ?? wish.from_email;
    const mailed = { survey: { id: organization.id, ...survey, reply_to }, organization };
    const { html, subject: line } = await readLetter(mailed, { publicUrl, language: tag, reader });
    return {
      html: html.replace('<title>', `<title>${line.replaceAll('<', '&lt;')} · `),
      headers: {},
    };
  }
  const { name, color, logo = null } = organization;
  const said = textsIn(survey, tag);
  const fill = (text: string) => fillIn(text, reader);
  const followUp =
    said.follow_up === null || typeof said.follow_up === 'string'
      ? said.follow_up && fill(said.follow_up)
      : mapValues(said.follow_up, fill);
  const asked = {
    type: wish.type,
    question: fill(said.question_text),
    followUp,
    language: tag,
    sender: { name, color, logo: logoPath(organization.id, logo) },
  };
  const page = { survey: asked, language: languageOf(tag) };
  const category = categories.find((each) => each === show);
  if (!category) return formPage({ ...page, action: '', trapUrl: '', unsubscribeUrl: '' });
  const words = typeof said.thanks === 'string' ? { text: said.thanks } : said.thanks?.[category];
  const answer = { score: scoreOf(wish.type, category), comment: null, at: new Date() };
  return thanksPage({
    ...page,
    answer,
    thanks: words ? { ...words, text: fill(words.text) } : null,
  });
}

const mapValues = <K extends string>(
  values: Partial<Record<K, string>>,
  fill: (text: string) => string,
) =>
  Object.fromEntries(
    Object.entries<string | undefined>(values).map(([name, text]) => [name, fill(text ?? '')]),
  );

const scoreOf = (type: NewSurveyWish['type'], category: Category) =>
  scoresInOrder(type).find((score) => categoryOf(type, score) === category) ?? 0;

/** An invented contact whose properties say their own names. */
function readerOf(survey: object): AddressedPerson {
  const properties = piecesOf(JSON.stringify(survey)).flatMap((piece) => {
    const [, name] =
      typeof piece === 'string' ? [] : (/^properties\.(.+)$/.exec(piece.value) ?? []);
    return name === undefined ? [] : [[name, `[${name}]`]];
  });
  return { name: 'Robin Reader', properties: Object.fromEntries(properties) };
}
