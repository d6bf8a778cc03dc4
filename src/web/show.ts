import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Refusal } from '../errors.ts';
import { showErrorScreen } from './app/error-screens.tsx';
import { errorPage, type Trouble } from './error-page.tsx';
import { hasTexts, type Language, languageOf } from './language.ts';
import type { HtmlPage } from './layout.tsx';
import { wantsJson } from './wants-json.ts';

/** Where people are led by links, whatever their browser says of itself. */
const linkedPages = /^\/[sefu](\/|$)/;

export const showPage = (
  c: Context,
  { html, headers }: HtmlPage,
  status: ContentfulStatusCode = 200,
): Response => c.html(html, status, headers);

/** A failed request as its status alone says it, for a person; a program gets nothing from here. */
export function showTrouble(
  c: Context,
  status: ContentfulStatusCode,
  refusal?: Refusal,
): Response | undefined {
  if (c.get('isApp')) return showErrorScreen(c, status, refusal);
  const { path } = c.req;
  if (path.startsWith('/api/') || wantsJson(c)) return undefined;
  const isLinked = linkedPages.test(path);
  const accepts = c.req.header('Accept') ?? '';
  if (!isLinked && !accepts.includes('text/html')) return undefined;
  // No survey was led to: a page of the app may be meant.
  if (!isLinked && status === 404) return showErrorScreen(c, status, refusal);
  const why = troubles[status] ?? (status < 500 ? 'refused' : 'broken');
  return showPage(c, errorPage(why, readersLanguage(c)), status);
}

const troubles: Readonly<Record<number, Trouble>> = {
  404: 'notFound',
  413: 'tooLarge',
  429: 'tooManyRequests',
  503: 'unavailable',
};

const mostLanguages = 20;

/** The reader's favourite among the languages that pages have: all there is to go by when no survey is known. */
export function readersLanguage(c: Context): Language {
  const ranges = (c.req.header('Accept-Language') ?? '').split(',', mostLanguages);
  const wished = ranges
    .map((range) => {
      const [, tag = '', quality = '1'] = /^\s*([\w-]+)(?:\s*;\s*q=([\d.]+))?/.exec(range) ?? [];
      return { tag, quality: Number(quality) };
    })
    .filter(({ tag, quality }) => quality > 0 && hasTexts(tag))
    .sort((one, other) => other.quality - one.quality);
  return languageOf(wished[0]?.tag ?? 'en');
}
