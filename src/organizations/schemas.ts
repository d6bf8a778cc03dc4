import * as v from 'valibot';
import { isLanguage } from '../lib/validation/language.ts';
import { isTimeZone } from '../lib/validation/time-zone.ts';
import { isLongerThan } from '../limits.ts';

const longestSlug = 80;
const longestText = 500;
const mostLines = 8;

export const TimeZone = v.pipe(
  v.string(),
  v.check(isTimeZone, 'must be the name of a time zone such as Europe/Berlin'),
);

export const Language = v.pipe(
  v.string(),
  v.check(isLanguage, 'must be a language tag such as en or pt-BR'),
);

export const Slug = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  v.regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be words of a-z and 0-9 with hyphens between them'),
  v.maxLength(longestSlug, `must be at most ${longestSlug} characters`),
);

/** A few lines of text; without any it is null. */
export const Lines = v.pipe(
  v.string(),
  v.transform(tidyLines),
  v.check((text) => !isLongerThan(text, longestText), `must be at most ${longestText} characters`),
  v.check((text) => text.split('\n').length <= mostLines, `must be at most ${mostLines} lines`),
  v.check((text) => !/[^\P{Cc}\n]/u.test(text), 'must be text without control characters'),
  v.transform((text) => (text === '' ? null : text)),
);

function tidyLines(text: string): string {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.trim());
  return lines.join('\n').trim();
}
