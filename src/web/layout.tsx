import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import { memoize } from '../lib/async/memoize.ts';
import { type ColorTheme, themeOf } from './color.ts';
import { pageHeaders } from './headers.ts';
import type { Language } from './language.ts';
import { pageStyle, themeStyle } from './style.ts';

/** Who asks: its name and colour are on every page it owns. */
export type Sender = {
  name: string;
  color: string;
  /** The path of its logo. */
  logo?: string | null | undefined;
};

export type HtmlPage = { html: string; headers: Record<string, string> };

export type PageContent = {
  language: Language;
  title: string;
  /** Without one the page speaks for no organization, in a neutral colour. */
  sender?: Sender | undefined;
  /** Rules that only this kind of page needs. */
  style?: string;
  body: Child;
  footer?: Child;
};

const neutralColor = '#4a5568';
const mostLooks = 500;

/** A whole page as text, and the headers it must be sent with: they vouch for its style by hash. */
export function renderPage(content: PageContent): HtmlPage {
  const color = content.sender?.color ?? neutralColor;
  const { theme, style, headers } = lookOf({
    color,
    rules: content.style ?? '',
    pictures: Boolean(content.sender?.logo),
  });
  const document = <Document {...content} theme={theme} style={style} />;
  return { html: `<!doctype html>${document}`, headers };
}

type Look = { color: string; rules: string; pictures: boolean };

/** Finding readable colours and hashing the style is half the work of a page, and few looks there are. */
const lookOf = memoize(mostLooks, ({ color, rules, pictures }: Look) => {
  const theme = themeOf(color);
  const style = themeStyle(theme) + pageStyle + rules;
  return { theme, style, headers: pageHeaders(style, { pictures }) };
});

type DocumentProps = PageContent & { theme: ColorTheme; style: string };

function Document({ language, title, sender, theme, style, body, footer }: DocumentProps) {
  const { tag, texts } = language;
  return (
    <html lang={tag} dir={texts.direction}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content={theme.brand} />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex, nofollow" />
        <meta name="format-detection" content="telephone=no" />
        <title>{sender ? `${title} · ${sender.name}` : title}</title>
        <link rel="icon" href={icon(theme)} />
        <style>{raw(style)}</style>
      </head>
      <body>
        <main>
          <div class="band" />
          {sender && (
            <header>
              {sender.logo ? (
                <img class="logo" src={sender.logo} alt="" />
              ) : (
                <span class="monogram" aria-hidden="true">
                  {monogram(sender.name)}
                </span>
              )}
              <bdi>{sender.name}</bdi>
            </header>
          )}
          {body}
        </main>
        {footer && <footer>{footer}</footer>}
      </body>
    </html>
  );
}

/** The first letter or digit of a name, whatever the script; a dot for a name that has none. */
export function monogram(name: string): string {
  return /[\p{L}\p{N}]\p{M}*/u.exec(name)?.[0].toUpperCase() ?? '·';
}

function icon({ brand }: ColorTheme): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" rx="2" fill="${brand}"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
