import type { Context } from 'hono';
import { pageHeaders } from '../../web/headers.ts';
import { languageOf } from '../../web/language.ts';
import { type HtmlPage, renderPage } from '../../web/layout.tsx';

type Scheme = 'light' | 'dark';

/** A page as it looks in one colour scheme, for a frame of the app: it neither runs nor sends anything there. */
export function asFrame(c: Context, { html }: HtmlPage, scheme: Scheme): Response {
  const shown = inScheme(html, scheme);
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(shown) ?? [];
  const headers = pageHeaders(style, { pictures: true });
  // A mail's styles stand at its elements.
  const styles = /<style>.*<body[^>]* style=/s.test(shown) ? "style-src 'unsafe-inline'" : null;
  const policy = headers['Content-Security-Policy']!.replace(
    "frame-ancestors 'none'",
    "frame-ancestors 'self'",
  )
    .replace("form-action 'self'", "form-action 'none'")
    .replace(/style-src [^;]+/, (own) => styles ?? own);
  return c.html(shown, 200, { ...headers, 'Content-Security-Policy': `${policy}; sandbox` });
}

/** The reader's scheme decides on pages and in mails; here the form does. */
function inScheme(html: string, scheme: Scheme): string {
  const media = scheme === 'dark' ? 'all' : 'not all';
  return html
    .replace(/@media ?\(prefers-color-scheme: ?dark\)/g, `@media ${media}`)
    .replace(/color-scheme: ?light dark/g, `color-scheme:${scheme}`)
    .replace(/(name="color-scheme" content=)"light dark"/, `$1"${scheme}"`);
}

/** A sentence where nothing can be shown. */
export const remarkPage = (text: string): HtmlPage =>
  renderPage({ language: languageOf('en'), title: text, body: <p>{text}</p> });
