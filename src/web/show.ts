import type { Context, ErrorHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { Refusal } from '../errors.ts';
import { type RequestEnv, SeeOther } from '../lib/http/http.ts';
import { showErrorScreen } from './app/error-screens.tsx';
import { cachePostedForm, fieldsToResend } from './app/forms.tsx';
import { wantsJson } from './headers.ts';
import { type Language, preferredLanguage } from './language.ts';
import { type ErrorPageKind, errorPage, type HtmlPage } from './layout.tsx';

/** Where people are led by links, whatever their browser says of itself. */
const linkedPages = /^\/[sefu](\/|$)/;

export const showPage = (
  c: Context,
  { html, headers }: HtmlPage,
  status: ContentfulStatusCode = 200,
): Response => c.html(html, status, headers);

/** A failed request as its status alone says it, for a person; a program gets nothing from here. */
export function showErrorPage(
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
  const why = pageKinds[status] ?? (status < 500 ? 'refused' : 'broken');
  return showPage(c, errorPage(why, readersLanguage(c)), status);
}

/** A form whose sender has to prove who it is first is shown again, where there is anything in it to lose. */
export const offerResend =
  (answer: ErrorHandler<RequestEnv>): ErrorHandler<RequestEnv> =>
  async (error, c) => {
    if (!(error instanceof SeeOther) || !error.keepsForm) return answer(error, c);
    await cachePostedForm(c);
    if (fieldsToResend(c).length === 0) return answer(error, c);
    const text = 'the last proof of who you are is over an hour old: give it again';
    return showErrorScreen(c, 403, new Refusal('forbidden', text, { code: 'proof_old' }));
  };

const pageKinds: Readonly<Record<number, ErrorPageKind>> = {
  404: 'notFound',
  413: 'tooLarge',
  429: 'tooManyRequests',
  503: 'unavailable',
};

/** All there is to go by when no survey is known. */
export const readersLanguage = (c: Context): Language =>
  preferredLanguage(c.req.header('Accept-Language'));
