import { htmlLines } from '../support/walls/html-lines.ts';
import { withNames } from './scene/names.ts';

/** What all answers of the app say of themselves. */
const usual = new Set(['content-length', 'date', 'set-cookie', 'x-request-id', 'request-id']);

export type Shown = { lines: string[]; frame: string[] | undefined };

/** An answer as it is kept: what was asked, what came back, and the page within its frame, which is kept by itself. */
export async function shownAnswer(asked: string, answer: Response): Promise<Shown> {
  const type = answer.headers.get('Content-Type') ?? '';
  const text = stable(await answer.text());
  const place = answer.headers.get('Location');
  const head = [
    withNames(`${asked}: ${answer.status}`),
    ...(place ? [withNames(`leads to ${stable(place)}`)] : []),
  ];
  if (!type.startsWith('text/html')) {
    const lines = withNames(text).trimEnd().split('\n');
    const headers = place ? [type] : headersOf(answer);
    return { lines: [...head, ...headers, ...lines], frame: undefined };
  }
  const [, before = '', main = '', after = ''] =
    /^([\s\S]*?<main[^>]*>)([\s\S]*)(<\/main>[\s\S]*)$/.exec(text) ?? [];
  const whole = withNames(main === '' ? text : main);
  const title = /<title>(.*?)<\/title>/.exec(before)?.[0] ?? '';
  const framed = `${before.replace(title, '<title></title>')}${after}`;
  if (main === '') {
    return { lines: [...head, ...headersOf(answer), ...htmlLines(whole)], frame: undefined };
  }
  return {
    lines: [...head, title, ...htmlLines(whole)],
    frame: [...headersOf(answer), ...htmlLines(withNames(framed))],
  };
}

function headersOf({ headers }: Response): string[] {
  return [...headers]
    .filter(([name]) => !usual.has(name))
    .map(([name, value]) => `${name}: ${value.replace(/'sha256-[^']*'/g, "'sha256-…'")}`);
}

/** Without what is drawn by lot, and what a change of an asset changes. */
const stable = (text: string) =>
  text
    .replace(/(\/assets\/[\w-]+)\.[\w-]+\.(\w+)/g, '$1.HASH.$2')
    .replace(/<style>[\s\S]*?<\/style>/g, '<style></style>')
    .replace(/ask_live_(?!public)[\w-]+/g, 'ask_live_SECRET')
    .replace(/(?<=invitations\/)[\w-]{43}(?![\w-])/g, 'TOKEN')
    .replace(/whsec_[\w+/=]+/g, 'whsec_SECRET')
    .replace(/secret=[A-Z2-7]+/g, 'secret=SECRET')
    .replace(/\b[a-z2-7]{4}(-[a-z2-7]{4}){3}\b/g, 'RECOVERY-CODE')
    .replace(/\b[A-Z2-7]{4}( [A-Z2-7]{4}){7}\b/g, 'CODES-KEY')
    .replace(/<path d="M[^"]{1000,}"/g, '<path d="DRAWN"');
