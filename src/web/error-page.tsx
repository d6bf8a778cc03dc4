import type { Language } from './language.ts';
import { type HtmlPage, renderPage } from './layout.tsx';
import { oneLine } from './style.ts';

/** Why there is nothing else to show. */
export type Trouble =
  | 'notFound'
  | 'tooManyRequests'
  | 'tooLarge'
  | 'refused'
  | 'unavailable'
  | 'broken';

/** A page without an organization: whose it would be is not known, or does not matter now. */
export function errorPage(why: Trouble, language: Language): HtmlPage {
  const { title, text } = language.texts[why];
  return renderPage({
    language,
    title,
    style,
    body: (
      <>
        <h1>{title}</h1>
        <p>{text()}</p>
      </>
    ),
  });
}

const style = oneLine(`
h1 + p { margin-top: .75rem; font-size: 1.0625rem; color: var(--muted) }
`);
