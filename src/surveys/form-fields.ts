import * as v from 'valibot';
import { questionsOf } from '../questions/form-fields.ts';
import { type Category, categories } from '../survey-types.ts';
import { describeIssue, type FormState } from '../web/app/forms.tsx';
import type { ManagedSurvey } from './queries.ts';
import { embeddingOf } from './schemas.ts';

type Fields = FormState['typed'];

/** Fields of the survey form, named by their dotted paths in the API. */
export const SurveyFields = v.record(v.string(), v.union([v.string(), v.array(v.string())]));

export const reminderNumbers = [1, 2, 3];

/** Converts form fields to the input of the API. Empty fields become null, and repeated names become lists. */
export function readSurveyFields(fields: Fields) {
  const text = (name: string) => textIn(fields, name);
  const reminders = reminderNumbers.flatMap((at) => {
    const after_days = numberIn(fields, `reminders.${at}.after_days`);
    const subject = text(`reminders.${at}.subject`);
    return after_days === null && subject === null ? [] : [{ after_days, subject }];
  });
  return {
    name: text('name') ?? '',
    from_name: text('from_name') ?? '',
    from_email: text('from_email') ?? '',
    reply_to: text('reply_to') ?? undefined,
    type: text('type') ?? undefined,
    audience: text('audience'),
    language: text('language') ?? 'en',
    ...readTexts(fields, ''),
    texts: Object.fromEntries(
      listIn(fields, 'languages').flatMap((tag) => {
        const texts = readTexts(fields, `texts.${tag}.`);
        return texts.question_text === '' ? [] : [[tag, texts]];
      }),
    ),
    questions: questionsOf(fields),
    reminders,
    ask_after_days: numberIn(fields, 'ask_after_days'),
    send_window: readWindow(fields),
    embed: {
      origins: (text('embed.origins') ?? '').split(/\s+/).filter(Boolean),
      position: text('embed.position') ?? undefined,
      delay_seconds: numberIn(fields, 'embed.delay_seconds') ?? undefined,
      every_days: numberIn(fields, 'embed.every_days') ?? undefined,
    },
  };
}

function readTexts(fields: Fields, prefix: string) {
  const text = (name: string) => textIn(fields, `${prefix}${name}`);
  const thanks = text('thanks');
  return {
    question_text: text('question_text') ?? '',
    subject: text('subject'),
    intro: text('intro'),
    follow_up: byCategory(text('follow_up'), (category) => text(`follow_up.${category}`)),
    thanks: byCategory(
      thanks,
      (category) => {
        const own = text(`thanks.${category}`);
        const link_url = text(`thanks.${category}.link_url`) ?? undefined;
        const link_text = text(`thanks.${category}.link_text`) ?? undefined;
        if (own === null && link_url === undefined) return null;
        return { text: own ?? thanks ?? undefined, link_url, link_text };
      },
      thanks && { text: thanks },
    ),
  };
}

/**
 * Returns the text for all categories, or texts by category if any category has a text. `fallback` then fills the gaps.
 */
function byCategory(
  all: string | null,
  textOf: (category: Category) => unknown,
  fallback: unknown = all,
): unknown {
  const texts = categories.map((category) => [category, textOf(category)] as const);
  if (texts.every(([, text]) => text === null)) return all;
  return Object.fromEntries(
    texts.flatMap(([category, text]) => {
      const value = text ?? fallback;
      return value === null ? [] : [[category, value]];
    }),
  );
}

function readWindow(fields: Fields) {
  const days = listIn(fields, 'send_window.days');
  if (days.length === 0) return null;
  const text = (name: string) => textIn(fields, `send_window.${name}`) ?? '';
  return { days, from: text('from'), to: text('to'), time_zone: text('time_zone') };
}

export const listIn = (fields: Fields, name: string): string[] => [fields[name] ?? []].flat();

function textIn(fields: Fields, name: string): string | null {
  const [text] = listIn(fields, name);
  return text?.trim() || null;
}

function numberIn(fields: Fields, name: string): number | string | null {
  const text = textIn(fields, name);
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : text;
}

export function surveyToFields(survey: ManagedSurvey): Record<string, string | string[]> {
  const { created_at: _created, updated_at: _updated, embed, ...content } = survey;
  const { origins, ...website } = embeddingOf(embed);
  return {
    ...flatten({ ...content, embed: website }),
    'embed.origins': origins.join('\n'),
    languages: Object.keys(survey.texts),
  };
}

/** Flattens nested values into dotted names, the reverse of `readSurveyFields`. */
export function flatten(value: unknown, path = ''): Record<string, string | string[]> {
  if (value === null || value === undefined) return {};
  if (typeof value !== 'object') return { [path]: String(value) };
  if (Array.isArray(value) && typeof value[0] === 'string') return { [path]: value };
  const nested = Object.entries(value).map(([key, each]) => {
    const name = Array.isArray(value) ? String(Number(key) + 1) : key;
    const isThanks = key === 'text' && /(^|\.)thanks\./.test(path);
    return flatten(each, isThanks ? path : path === '' ? name : `${path}.${name}`);
  });
  return Object.assign({}, ...nested);
}

export function fieldErrors(issues: readonly v.BaseIssue<unknown>[]): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const issue of issues) {
    errors[fieldOf(v.getDotPath(issue) ?? '')] ??= describeIssue(issue);
  }
  return errors;
}

function fieldOf(path: string): string {
  const [, at, rest] = /^reminders\.(\d)\.?(.*)$/.exec(path) ?? [];
  if (at !== undefined) return `reminders.${Number(at) + 1}.${rest || 'after_days'}`;
  const [, number, field = ''] = /^questions\.(\d+)\.?(.*)$/.exec(path) ?? [];
  if (number !== undefined) {
    return `questions.${Number(number) + 1}.${field.replace(/^options.*/, 'options')}`.replace(
      /\.$/,
      '',
    );
  }
  if (path === 'reminders') return 'reminders.1.after_days';
  if (path === 'send_window') return 'send_window.to';
  if (path.startsWith('send_window.days')) return 'send_window.days';
  return path.replace(/^(embed\.origins)\..*/, '$1').replace(/(thanks\.\w+)\.text$/, '$1');
}
