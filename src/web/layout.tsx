import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import { type ColorTheme, type Palette, themeOf } from './color.ts';
import { pageHeaders } from './headers.ts';
import { type Language, preferredLanguage } from './language.ts';

const retrySeconds = 2;

/** The page while the service starts. A GET reloads itself, but a form does not. */
export function showStarting(request: Request): Response | undefined {
  const { pathname } = new URL(request.url);
  const isPage = (request.headers.get('Accept') ?? '').includes('text/html');
  if (!isPage || pathname.startsWith('/api/') || /^\/(health|ready)z$/.test(pathname))
    return undefined;
  const language = preferredLanguage(request.headers.get('Accept-Language'));
  const { html, headers } = errorPage('unavailable', language);
  return new Response(html, {
    status: 503,
    headers: {
      ...headers,
      'Content-Type': 'text/html; charset=utf-8',
      'Retry-After': String(retrySeconds),
      ...(request.method === 'GET' && { Refresh: String(retrySeconds) }),
    },
  });
}

export type ErrorPageKind =
  | 'notFound'
  | 'tooManyRequests'
  | 'tooLarge'
  | 'refused'
  | 'unavailable'
  | 'broken';

/** An error page without an organization's name and colour. */
export function errorPage(kind: ErrorPageKind, language: Language): HtmlPage {
  const { title, text } = language.texts[kind];
  return renderPage({
    language,
    title,
    style,
    body: (
      <>
        <h1>{title}</h1>
        <p>{text}</p>
      </>
    ),
  });
}

const style = oneLine(`
h1 + p { margin-top: .75rem; font-size: 1.0625rem; color: var(--muted) }
`);

/** The organization that a page belongs to. */
export type Sender = {
  name: string;
  color: string;
  /** A path. */
  logo?: string | null | undefined;
};

export type HtmlPage = { html: string; headers: Record<string, string> };

type PageContent = {
  language: Language;
  title: string;
  /** A page without a sender has a neutral colour. */
  sender?: Sender | undefined;
  /** Additional CSS. */
  style?: string;
  /** Runs at the end of the page. May call the service and nothing else. */
  script?: string | undefined;
  body: Child;
  footer?: Child;
};

const neutralColor = '#4a5568';

/** Renders a page and its headers. Their policy allows its style by hash. */
export function renderPage(content: PageContent): HtmlPage {
  const theme = themeOf(content.sender?.color ?? neutralColor);
  const style = themeStyle(theme) + pageStyle + (content.style ?? '');
  const { sender, script } = content;
  const headers = pageHeaders(style, { pictures: Boolean(sender?.logo), script });
  const document = <Document {...content} theme={theme} style={style} />;
  return { html: `<!doctype html>${document}`, headers };
}

const properties = (palette: Palette) =>
  Object.entries(palette)
    .map(([name, color]) => `--${name.replace('onAccent', 'on-accent')}:${color};`)
    .join('');

/** Base stylesheet of the survey pages, mobile first. Tap targets are at least 44 pixels, and all sides are logical, for right-to-left languages. */
const pageStyle = oneLine(`
*, ::before, ::after { box-sizing: border-box }
html { color-scheme: light dark; -webkit-text-size-adjust: 100%; background: var(--card) }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column; background: var(--card); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans Arabic", sans-serif }
main { width: 100%; padding: 1.5rem 1rem 2rem }
.band { position: absolute; inset: 0 0 auto; height: 5px; background: var(--brand) }
header { display: flex; align-items: center; gap: .75rem; margin-bottom: 1.75rem; font-weight: 600; overflow-wrap: anywhere }
.logo { flex: none; width: auto; max-width: 9rem; height: 2.5rem; object-fit: contain; border-radius: .375rem; background: #fff; padding: .125rem }
.monogram { flex: none; display: grid; place-items: center; width: 2.5rem; height: 2.5rem; border-radius: .75rem; background: var(--brand); color: var(--on-brand); font-size: 1.125rem; font-weight: 700; box-shadow: inset 0 0 0 1px #88888840 }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.3; font-weight: 700; letter-spacing: -.011em; text-wrap: balance; overflow-wrap: anywhere }
:lang(ar) h1, h1:lang(ar) { letter-spacing: 0 }
p { margin: 0; text-wrap: pretty }
footer { margin-top: auto; padding: 1.25rem 1rem; text-align: center; font-size: .875rem }
footer a { display: inline-block; padding: .75rem; color: var(--muted) }
button { appearance: none; width: 100%; min-height: 3.25rem; padding: .75rem 1.75rem; border: 2px solid var(--accent); border-radius: .875rem; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 650; cursor: pointer }
button.quiet { background: transparent; color: var(--accent) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px }
.hidden { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.away { position: absolute; left: -200vw; top: 0; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
[dir=rtl] .away { left: auto; right: -200vw }
@media (min-width: 40rem) {
  html, body { background: var(--page) }
  body { padding: 4rem 1.5rem 0 }
  main { position: relative; max-width: 42rem; margin: 0 auto; padding: 2.75rem 3rem 3rem; border-radius: 1.5rem; background: var(--card); overflow: hidden; box-shadow: 0 1px 2px #0000000f, 0 20px 50px -20px #00000033 }
  header { margin-bottom: 2.25rem }
  h1 { font-size: 1.875rem; line-height: 1.25 }
  button { width: auto; min-width: 12rem }
}
@media (prefers-reduced-motion: no-preference) {
  button, .choice span { transition: background-color .12s, border-color .12s, color .12s, transform .12s }
  button:active, .choice input:active + span { transform: scale(.96) }
}
@media (hover: hover) { button:hover { filter: brightness(1.08) } button.quiet:hover { background: var(--soft) } }
@media (forced-colors: active) { button { border-color: ButtonText } .monogram { border: 1px solid } }
`);

type DocumentProps = PageContent & { theme: ColorTheme; style: string };

function Document({ language, title, sender, theme, ...content }: DocumentProps) {
  const { style, script, body, footer } = content;
  const { tag, direction } = language;
  return (
    <html lang={tag} dir={direction}>
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
        {script && <script>{raw(script)}</script>}
      </body>
    </html>
  );
}

/** The first letter or digit of a name in any script, or a dot. */
export function monogram(name: string): string {
  return /[\p{L}\p{N}]\p{M}*/u.exec(name)?.[0].toUpperCase() ?? '·';
}

function icon({ brand }: ColorTheme): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" rx="2" fill="${brand}"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

function themeStyle({ brand, onBrand, light, dark }: ColorTheme): string {
  const fixed = `--brand:${brand};--on-brand:${onBrand};`;
  return `:root{${fixed}${properties(light)}}@media(prefers-color-scheme:dark){:root{${properties(dark)}}}`;
}

/** HTML drops a line break right after the opening tag, so texts that begin with a line break get another. */
export const protectFirstBreak = (text: string) => (/^\r?\n/.test(text) ? `\n${text}` : text);

/** Minifies CSS. */
export function oneLine(css: string): string {
  return css
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,>]) ?/g, '$1')
    .replace(/: /g, ':')
    .trim();
}
