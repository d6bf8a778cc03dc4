import type { QuestionsInput } from '../questions/definition.ts';
import { optionNumbers, questionFields } from '../questions/form-fields.ts';
import type { SurveyType } from '../survey-types.ts';
import type { FormState } from '../web/app/forms.tsx';
import { isTranslated, languageOf, languages } from '../web/language.ts';
import type { TemplateSubject } from '../web/languages/en.ts';
import { flatten, listIn } from './form-fields.ts';

export type Template = {
  /** Also the name of the new survey. */
  title: string;
  use: string;
  type: SurveyType;
  audience?: 'employee';
  texts: TemplateSubject;
  reminders: readonly number[];
};

export const templates: Readonly<Record<string, Template>> = {
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
    use: 'By email or parcel link',
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
  employees: {
    title: 'Employees (eNPS)',
    use: 'By email, every quarter',
    type: 'nps',
    audience: 'employee',
    texts: 'employees',
    reminders: [4, 8],
  },
};

export type Wording = { language: string; organization: string };

/** Values of the survey form. Undefined if there is no such template. */
export function templateFields(name: string, wording: Wording): FormState['typed'] | undefined {
  const template = Object.hasOwn(templates, name) ? templates[name] : undefined;
  if (!template) return undefined;
  const { title, type, audience, reminders, texts } = template;
  return flatten({
    name: title,
    type,
    audience,
    language: wording.language,
    ...textsOf(template, wording),
    questions: templateQuestions(texts, { language: wording.language }),
    reminders: reminders.map((after_days) => ({ after_days })),
  });
}

export function textsOf(
  { texts: subject }: Pick<Template, 'texts'>,
  { language, organization }: Wording,
) {
  const { questions: _questions, ...texts } =
    languageOf(language).texts.templates(organization)[subject];
  return texts;
}

type QuestionForm = Pick<QuestionsInput[number], 'kind' | 'min' | 'max' | 'categories'> & {
  allow_other?: true;
};

/** Everything about the follow-up questions of a template except their texts. */
const questionForms: Readonly<Record<TemplateSubject, readonly QuestionForm[]>> = {
  nps: [
    { kind: 'choice', allow_other: true },
    { kind: 'choice', categories: ['detractor', 'passive'] },
  ],
  support: [{ kind: 'choice' }, { kind: 'scale', min: 1, max: 5 }],
  effort: [{ kind: 'choices', allow_other: true, categories: ['detractor', 'passive'] }],
  delivery: [{ kind: 'choice' }, { kind: 'scale', min: 1, max: 5 }],
  website: [{ kind: 'choice', allow_other: true }],
  employees: [
    { kind: 'choices', allow_other: true },
    { kind: 'scale', min: 1, max: 5 },
  ],
};

const optionIdAt = (place: number) => `o${place + 1}`;

/** The follow-up questions of a template in one language, with translations into other languages. */
export function templateQuestions(
  subject: TemplateSubject,
  { language, translations = [] }: { language: string; translations?: readonly string[] },
) {
  const questionsIn = (tag: string) => languageOf(tag).texts.templates('')[subject].questions;
  return questionsIn(language).map(({ options, ...texts }, at) => ({
    ...questionForms[subject][at],
    ...texts,
    options: options?.map((label, place) => ({ id: optionIdAt(place), label })),
    texts: Object.fromEntries(
      translations.map((tag) => {
        const { options: labels, ...words } = questionsIn(tag)[at]!;
        const named = labels?.map((label, place) => [optionIdAt(place), label]);
        return [tag, { ...words, ...(named && { options: Object.fromEntries(named) }) }];
      }),
    ),
  }));
}

/** Translates texts that are unchanged from a template, as form fields of another language. */
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
  return { ...translations, ...translatedQuestions(typed, { own, language }) };
}

function translatedQuestions(
  typed: FormState['typed'],
  { own, language }: { own: string; language: string },
) {
  const pairs = Object.keys(questionForms).flatMap((subject) =>
    templateQuestions(subject as TemplateSubject, { language: own, translations: [language] }),
  );
  const fields = questionFields(typed).map((field, at) => {
    const { texts = {}, options = [] } = pairs.find(({ text }) => text === field['text']) ?? {};
    const { options: labels = {}, ...words } = texts[language] ?? {};
    const byId = optionNumbers(field).flatMap((number) => {
      const same = options.find(({ label }) => label === field[`options.${number}.label`]);
      return same ? [[`options.${field[`options.${number}.id`]}`, labels[same.id]]] : [];
    });
    const all = [...Object.entries(words), ...byId];
    return all.map(([name, text]) => [`questions.${at + 1}.texts.${language}.${name}`, `${text}`]);
  });
  return Object.fromEntries(fields.flat()) as Record<string, string>;
}

/** The requested language if it is translated, else the organization's, else English. */
export function templateLanguage(requested: string | undefined, own: string): string {
  if (requested !== undefined && languages.has(requested)) return requested;
  return isTranslated(own) ? own : 'en';
}
