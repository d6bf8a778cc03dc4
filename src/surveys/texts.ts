import * as v from 'valibot';
import { Refusal } from '../errors.ts';
import { oneLine } from '../lib/validation/parse.ts';
import type { Category } from '../survey-types.ts';
import { acceptedLanguages } from '../web/language.ts';
import type { SurveyContent } from './queries.ts';

export type ThanksWithLink = { text: string; link_url?: string; link_text?: string };
export type FollowUp = string | Partial<Record<Category, string>>;
export type ThanksText = string | Partial<Record<Category, ThanksWithLink>>;

/** Texts in one language. Null means the default text of the page or email. */
export type SurveyTexts = {
  question_text: string;
  subject: string | null;
  intro: string | null;
  follow_up: FollowUp | null;
  thanks: ThanksText | null;
};

export type Translation = Pick<SurveyTexts, 'question_text'> & Partial<SurveyTexts>;
export type TextsByLanguage = Readonly<Record<string, Translation>>;

export type TranslatedSurvey = Pick<SurveyTexts, 'question_text'> &
  Partial<SurveyTexts> & { language: string; texts: TextsByLanguage };

export function textsIn(survey: TranslatedSurvey, language: string): SurveyTexts {
  const other = language === survey.language ? undefined : survey.texts[language];
  const { question_text, subject, intro, follow_up, thanks } = other ?? survey;
  return {
    question_text,
    subject: subject ?? null,
    intro: intro ?? null,
    follow_up: follow_up ?? null,
    thanks: thanks ?? null,
  };
}

type ReaderLanguages = {
  /** The contact's property `language`, which can hold any JSON. */
  property?: unknown;
  accepted?: string | undefined;
};

/** Prefers the contact's language, then the browser's, then the survey's own. */
export function languageFor(
  survey: Pick<TranslatedSurvey, 'language' | 'texts'>,
  { property, accepted }: ReaderLanguages,
): string {
  const others = Object.keys(survey.texts);
  if (others.length === 0) return survey.language;
  const offered = [survey.language, ...others];
  const wanted = [typeof property === 'string' ? property : '', ...acceptedLanguages(accepted)];
  for (const tag of wanted) {
    const language = closest(tag, offered);
    if (language) return language;
  }
  return survey.language;
}

/** Also matches `de-AT` with `de`, and `de` with `de-CH`. */
function closest(wanted: string, offered: readonly string[]): string | undefined {
  const tag = wanted.trim().toLowerCase().replace('_', '-');
  if (tag === '') return undefined;
  const primary = (each: string) => each.toLowerCase().split('-')[0];
  return (
    offered.find((each) => each.toLowerCase() === tag) ??
    offered.find((each) => primary(each) === primary(tag))
  );
}

export type AddressedPerson = {
  name: string | null;
  properties: Readonly<Record<string, unknown>>;
};

export const anyPerson: AddressedPerson = { name: null, properties: {} };

export type Placeholder = { value: string; fallback: string };
type TextPiece = string | Placeholder;

const placeholder = /\{\{([^{}|]*)(?:\|([^{}]*))?\}\}/g;

/** Splits `Hello {{first_name|there}}` into a string and a placeholder. */
export function piecesOf(text: string): TextPiece[] {
  // With two groups, split() returns text, name and fallback in turn.
  const parts = text.split(placeholder);
  const pieces: TextPiece[] = [];
  for (let at = 0; at < parts.length; at += 3) {
    if (parts[at]) pieces.push(parts[at]!);
    if (at + 1 < parts.length) {
      pieces.push({ value: parts[at + 1]!.trim(), fallback: (parts[at + 2] ?? '').trim() });
    }
  }
  return pieces;
}

export const WithPlaceholders = <const S extends v.GenericSchema<string, string>>(schema: S) =>
  v.pipe(
    schema,
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed ? validatePlaceholders(dataset.value) : undefined;
      if (message) addIssue({ message });
    }),
  );

export function validatePlaceholders(text: string): string | undefined {
  for (const piece of piecesOf(text)) {
    if (typeof piece !== 'string' && !isKnown(piece.value)) {
      return `{{${piece.value}}} is not a placeholder; use ${knownPlaceholders}`;
    }
    if (typeof piece === 'string' && piece.includes('{{')) {
      return `has {{ without a placeholder; use ${knownPlaceholders}`;
    }
  }
  return undefined;
}

const knownPlaceholders =
  '{{name}}, {{first_name}} or {{properties.NAME}}, with an optional fallback such as {{name|you}}';

const isKnown = (value: string) =>
  value === 'name' || value === 'first_name' || /^properties\..+/.test(value);

export const fillIn = (text: string, person: AddressedPerson): string =>
  text.includes('{{') ? mapPlaceholders(text, (each) => valueFor(each, person)) : text;

export const mapPlaceholders = (text: string, replace: (each: Placeholder) => string) =>
  piecesOf(text)
    .map((piece) => (typeof piece === 'string' ? piece : replace(piece)))
    .join('');

export const valueFor = ({ value, fallback }: Placeholder, person: AddressedPerson): string =>
  ownValue(value, person) || fallback;

/** Lists and objects count as empty. */
export function ownValue(value: string, person: AddressedPerson): string {
  const raw = lookUp(value, person);
  if (typeof raw === 'string') return oneLine(raw);
  return typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : '';
}

function lookUp(value: string, { name, properties }: AddressedPerson): unknown {
  if (value === 'name') return name;
  if (value === 'first_name') return name?.trim().split(/\s+/)[0];
  const property = propertyOf(value)!;
  if (Object.hasOwn(properties, property)) return properties[property];
  const inAnyCase = property.toLowerCase();
  const alike = Object.keys(properties).filter((each) => each.toLowerCase() === inAnyCase);
  return alike.length === 1 ? properties[alike[0]!] : null;
}

export const propertyOf = (value: string): string | undefined =>
  value.startsWith('properties.') ? value.slice('properties.'.length) : undefined;

/** Placeholders in the emails, reminders and page of one language. */
export function placeholdersIn(
  survey: TranslatedSurvey & { reminders?: readonly { subject?: string }[] },
  language: string,
): Placeholder[] {
  const { reminders = [] } = survey;
  return textsWithin([textsIn(survey, language), reminders.map(({ subject }) => subject)])
    .flatMap(piecesOf)
    .filter((piece) => typeof piece !== 'string');
}

const textsWithin = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(textsWithin);

type CheckedContent = Pick<SurveyContent, 'type' | 'audience' | 'language' | 'texts'>;

export function checkContent({ type, audience, language, texts }: CheckedContent) {
  if (audience !== null && type !== 'nps') {
    throw new Refusal('invalid', 'audience: only an nps survey can be an employee survey');
  }
  if (Object.hasOwn(texts, language)) {
    throw new Refusal(
      'invalid',
      `texts: ${language} is the survey's own language; set question_text, subject, intro, follow_up and thanks instead`,
    );
  }
}

const maxCopiedNameLength = 190;

export const nameOfCopy = (name: string) =>
  `${[...name].slice(0, maxCopiedNameLength).join('')} (copy)`;
