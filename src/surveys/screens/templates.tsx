import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import { Star, Thumb } from '../../responses/view/form.tsx';
import type { ScreenEnv } from '../../sessions/session.ts';
import { type SurveyType, scoresInOrder } from '../../survey-types.ts';
import { type FormState, Select } from '../../web/app/forms.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { isTranslated, languageChoices, languageOf, languages } from '../../web/language.ts';
import type { TemplateSubject } from '../../web/languages/texts.ts';
import { flatten, listIn } from '../form-fields.ts';
import { surveysPath } from './parts.tsx';

type Template = {
  /** Also the name of the new survey. */
  title: string;
  use: string;
  type: SurveyType;
  audience?: 'employee';
  texts: TemplateSubject;
  /** The subject and the thank-you message come from these texts. */
  frame?: TemplateSubject;
  reminders: readonly number[];
};

const templates: Readonly<Record<string, Template>> = {
  nps: {
    title: 'Customer loyalty (NPS)',
    use: 'By email, every few months',
    type: 'nps',
    texts: 'nps',
    reminders: [4],
  },
  support: {
    title: 'After support (CSAT)',
    use: 'When a ticket is closed',
    type: 'csat',
    texts: 'support',
    reminders: [3],
  },
  effort: {
    title: 'Effort (CES)',
    use: 'After a purchase or a request',
    type: 'ces',
    texts: 'effort',
    reminders: [3],
  },
  delivery: {
    title: 'After delivery (stars)',
    use: 'By email, or by a link on the parcel',
    type: 'star5',
    texts: 'delivery',
    reminders: [3],
  },
  website: {
    title: 'Website (thumbs)',
    use: 'On your website, or by link',
    type: 'thumbs',
    texts: 'website',
    reminders: [4],
  },
  'website-nps': {
    title: 'Website (NPS)',
    use: 'On your website, or by link',
    type: 'nps',
    texts: 'nps',
    frame: 'website',
    reminders: [4],
  },
  employees: {
    title: 'Employees (eNPS)',
    use: 'By email, every quarter',
    type: 'nps',
    audience: 'employee',
    texts: 'employees',
    reminders: [4, 8],
  },
};

type Wording = { language: string; organization: string };

/** Values of the survey form. Undefined if there is no such template. */
export function templateFields(name: string, wording: Wording): FormState['typed'] | undefined {
  const template = Object.hasOwn(templates, name) ? templates[name] : undefined;
  if (!template) return undefined;
  const { title, type, audience, reminders } = template;
  return flatten({
    name: title,
    type,
    audience,
    language: wording.language,
    ...textsOf(template, wording),
    reminders: reminders.map((after_days) => ({ after_days })),
  });
}

function textsOf({ texts, frame = texts }: Template, { language, organization }: Wording) {
  const inLanguage = languageOf(language).texts.templates(organization);
  const { subject, thanks } = inLanguage[frame];
  return { ...inLanguage[texts], subject, thanks };
}

/** Translations of the texts that still read as in a template, as fields of one more language. */
export function translatedFields(
  typed: FormState['typed'],
  organization: string,
  language: string,
): Record<string, string> {
  if (!isTranslated(language)) return {};
  const [own = 'en'] = listIn(typed, 'language');
  const translations: Record<string, string> = {};
  for (const template of Object.values(templates)) {
    const written = flatten(textsOf(template, { language: own, organization }));
    const translated = flatten(textsOf(template, { language, organization }));
    for (const [name, text] of Object.entries(written)) {
      if (typed[name] === text) translations[`texts.${language}.${name}`] = `${translated[name]}`;
    }
  }
  return translations;
}

/** The requested language if it is translated, else the organization's, else English. */
export function templateLanguage(requested: string | undefined, own: string): string {
  if (requested !== undefined && languages.has(requested)) return requested;
  return isTranslated(own) ? own : 'en';
}

export function renderTemplates(c: Context<ScreenEnv>, language: string) {
  const surveys = surveysPath(c.var.organization);
  const wording = { language, organization: c.var.organization.name };
  return renderScreen(c, {
    title: 'New survey',
    section: 'surveys',
    trail: [{ text: 'Surveys', href: surveys }],
    body: (
      <>
        <form method="get" action={`${surveys}/new`} class="filters templates-of">
          <p class="soft">Start from a template. You can change everything before you save.</p>
          <Select
            name="language"
            label="Language"
            size="day"
            value={language}
            options={languageChoices(language)}
          />
          <button type="submit">Show</button>
        </form>
        <ul class="templates">
          {Object.entries(templates).map(([name, template]) => (
            <TemplateCard
              href={`${surveys}/new?template=${name}&language=${language}`}
              template={template}
              wording={wording}
            />
          ))}
          <li>
            <h2>
              <a href={`${surveys}/new?template=blank`}>Blank</a>
            </h2>
            <p class="soft">Write your own question on any scale.</p>
          </li>
        </ul>
      </>
    ),
  });
}

type CardProps = { href: string; template: Template; wording: Wording };

function TemplateCard({ href, template, wording }: CardProps) {
  const { tag, direction } = languageOf(wording.language);
  return (
    <li>
      <ScalePicture type={template.type} />
      <h2>
        <a href={href}>{template.title}</a>
      </h2>
      <p lang={tag} dir={direction}>
        {textsOf(template, wording).question_text}
      </p>
      <p class="small soft">{template.use}</p>
    </li>
  );
}

const pictures: Partial<Record<SurveyType, (score: number) => Child>> = {
  star5: () => <Star />,
  thumbs: (score) => <Thumb down={score === 0} />,
};

const ScalePicture = ({ type }: { type: SurveyType }) => (
  <p class="scale" aria-hidden="true">
    {scoresInOrder(type).map((score) => (
      <span>{(pictures[type] ?? String)(score)}</span>
    ))}
  </p>
);
