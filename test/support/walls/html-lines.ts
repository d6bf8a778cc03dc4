/** HTML as lines that a person reads and compares: an element a line, or with the few words in it. */
export function htmlLines(html: string): string[] {
  const root: Element = { open: '', close: '', children: [] };
  const path = [root];
  for (const [token] of html.matchAll(tokens)) {
    const above = path.at(-1)!;
    if (token.startsWith('</')) {
      if (path.length > 1) path.pop();
    } else if (isElement.test(token)) {
      const name = isElement.exec(token)![1]!;
      const element = { open: token, close: `</${name}>`, children: [] };
      above.children.push(element);
      if (!(token.endsWith('/>') || alone.has(name))) path.push(element);
    } else above.children.push(token);
  }
  return root.children.flatMap((child) => linesOf(child));
}

type Element = { open: string; close: string; children: (Element | string)[] };

const tokens =
  /<!--[\s\S]*?-->|<\/?[a-zA-Z!][^\s>]*(?:\s+[^\s=>/]+(?:=(?:"[^"]*"|[^\s>]*))?)*\s*\/?>|[^<]+|</g;
const isElement = /^<([a-zA-Z][\w-]*)/;
const alone = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));
/** Between words these stand within a line. */
const inline = new Set('a abbr b bdi br code em span strong svg time wbr'.split(' '));
const longestLine = 110;

function linesOf(node: Element | string): string[] {
  if (typeof node === 'string') return [shown(node)];
  const together = flat(node);
  if (together.length <= longestLine && isShort(node)) return [together];
  if (node.children.length === 0) return [together];
  return [node.open, ...node.children.flatMap(linesOf).map((line) => ` ${line}`), node.close];
}

const isShort = ({ children }: Element): boolean =>
  children.every(
    (child) =>
      typeof child === 'string' ||
      (inline.has(isElement.exec(child.open)![1]!) && child.close !== '</svg>' && isShort(child)),
  );

function flat(node: Element | string): string {
  if (typeof node === 'string') return shown(node);
  const name = isElement.exec(node.open)![1]!;
  if (node.open.endsWith('/>') || alone.has(name)) return node.open.replaceAll('\n', '⏎');
  return `${node.open}${node.children.map(flat).join('')}${node.close}`.replaceAll('\n', '⏎');
}

/** Space at the ends of words is seen too. */
const shown = (text: string) =>
  text.replaceAll('\n', '⏎').replace(/^ +| +$/g, (spaces) => '␣'.repeat(spaces.length));
