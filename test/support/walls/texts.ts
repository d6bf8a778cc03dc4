import { globSync, readFileSync } from 'node:fs';
import { commandLine } from '../../../src/cli.ts';

/** What the texts are kept in, to be compared with. */
export const keptTexts = 'test/support/walls/texts.txt';

/**
 * Everything that screens and mails to members say from files of texts, and the help of every command, a line each after
 * the file and the name that it has there. What is said of something is said of several examples.
 */
export async function allTexts(): Promise<string[]> {
  const files = globSync('src/**/{screen-texts,texts,*-texts}.ts')
    .filter((path) => !path.includes('/languages/') && path !== 'src/surveys/texts.ts')
    .sort();
  const lines: string[] = [];
  for (const path of files) {
    const exported: Record<string, unknown> = await import(`../../../${path}`);
    const names = Object.keys(exported).sort();
    const codes = [...readFileSync(path, 'utf8').matchAll(/^ +'?([\w.]+)'?: /gm)].map(
      ([, code]) => code!,
    );
    for (const name of names) {
      const value = exported[name];
      lines.push(...linesOf(`${path} ${name}`, value));
      if (typeof value === 'function')
        lines.push(...linesOfCodes(`${path} ${name}`, value as Say, codes));
    }
  }
  const helps = commandLine.commands.flatMap(({ name, help }) => linesOf(name, help('askback')));
  return [...lines, ...helps].map((line) => line.trimEnd());
}

type Say = (...given: unknown[]) => unknown;

/** What is said of each code that the file names. */
function linesOfCodes(name: string, say: Say, codes: readonly string[]): string[] {
  if (say.length !== 1 || saidOf(say, ['«a»']).some((each) => JSON.stringify(each).includes('«a»')))
    return [];
  const ofNone = JSON.stringify(saidOf(say, ['«a»']));
  return codes.flatMap((code) => {
    const said = saidOf(say, [code]);
    return JSON.stringify(said) === ofNone ? [] : linesOf(`${name}(${code})`, said);
  });
}

function linesOf(name: string, value: unknown): string[] {
  if (typeof value === 'function') {
    return linesOf(name, saidOfExamples(value as Say));
  }
  if (Array.isArray(value)) return value.flatMap((each) => linesOf(name, each));
  if (value === null || typeof value !== 'object') {
    return String(value)
      .split('\n')
      .map((line) => `${name}: ${line}`);
  }
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return entries.flatMap(([key, each]) => linesOf(`${name}.${key}`, each));
}

/** A thing all of whose fields are the same number. */
const thing = (n: number) =>
  new Proxy({}, { get: (_, key) => (typeof key === 'symbol' ? () => `thing ${n}` : n) });

const words = ['«a»', '«b»', '«c»'];
const examples = [words, [0, 0, 0], [1, 1, 1], [2, 3, 4]];
const things = [[thing(1)], [thing(2)]];

/** Examples of another kind than the function takes are left out. */
function saidOfExamples(say: Say) {
  const [first] = saidOf(say, words);
  // Where words are said as they are given, numbers are as well.
  const isPlain =
    typeof first === 'string' &&
    first.includes('«a»') &&
    saidOf(say, [0]).every((each) => String(each).includes('0'));
  const sentences = isPlain ? [first] : examples.flatMap((given) => saidOf(say, given));
  return [
    ...new Set(sentences.length > 0 ? sentences : things.flatMap((given) => saidOf(say, given))),
  ];
}

function saidOf(say: Say, given: readonly unknown[]): unknown[] {
  try {
    const said = say(...given);
    const isText = typeof said === 'string' && !/NaN|undefined/.test(said);
    const isTexts =
      typeof said === 'object' &&
      said !== null &&
      Object.values(said).every((each) => typeof each === 'string');
    return isText || isTexts ? [said] : [];
  } catch {
    return [];
  }
}
