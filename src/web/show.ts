import type { Context, ErrorHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { Refusal } from '../errors.ts';
import { type RequestEnv, SeeOther } from '../lib/http/http.ts';
import { showErrorScreen } from './app/error-screens.tsx';
import { cachePostedForm, fieldsToResend } from './app/forms.tsx';
import { wantsJson } from './headers.ts';
import { type Language, preferredLanguage } from './language.ts';
import { type ErrorPageKind, errorPage, type HtmlPage } from './layout.tsx';

/** Paths of links in emails, which always get a page. */
const linkedPages = /^\/[sefu](\/|$)/;

export const showPage = (
  c: Context,
  { html, headers }: HtmlPage,
  status: ContentfulStatusCode = 200,
): Response => c.html(html, status, headers);

/** Renders a failed request as a page for people. Returns undefined for API clients. */
export function showErrorPage(c: Context, status: ContentfulStatusCode, refusal?: Refusal) {
  if (c.get('isApp')) return showErrorScreen(c, status, refusal);
  const { path } = c.req;
  if (path.startsWith('/api/') || wantsJson(c)) return undefined;
  const isLinked = linkedPages.test(path);
  const accepts = c.req.header('Accept') ?? '';
  if (!isLinked && !accepts.includes('text/html')) return undefined;
  // The address is probably a mistyped page of the app.
  if (!isLinked && status === 404) return showErrorScreen(c, status, refusal);
  const kind = pageKinds[status] ?? (status < 500 ? 'refused' : 'broken');
  return showPage(c, errorPage(kind, readersLanguage(c)), status);
}

/** Keeps the content of a posted form when its sender must confirm who they are first. */
export const offerResend =
  (answer: ErrorHandler<RequestEnv>): ErrorHandler<RequestEnv> =>
  async (error, c) => {
    if (!(error instanceof SeeOther) || !error.keepsForm) return answer(error, c);
    await cachePostedForm(c);
    if (fieldsToResend(c).length === 0) return answer(error, c);
    const text = 'you signed in more than an hour ago: confirm your identity';
    return showErrorScreen(c, 403, new Refusal('forbidden', text, { code: 'proof_old' }));
  };

const pageKinds: Readonly<Record<number, ErrorPageKind>> = {
  404: 'notFound',
  413: 'tooLarge',
  429: 'tooManyRequests',
  503: 'unavailable',
};

/** The reader's language, for pages without a survey. */
export const readersLanguage = (c: Context): Language =>
  preferredLanguage(c.req.header('Accept-Language'));
