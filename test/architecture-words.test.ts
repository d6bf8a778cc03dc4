import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFiles, type SourceFile } from './support/walls/sources.ts';

/** Words that readers had to translate, each with the plain ones. Names in code count as words too. */
const retired: [words: RegExp, say: string][] = [
  [/nobody|nobodys|whoever|whom|whomever/g, 'name the thing: no contact, the caller, the address'],
  [/those who|him who|of whom/g, 'name them: contacts, subscribers, callers'],
  [/anew/g, 'again'],
  [/for ever/g, 'forever'],
  [/kept back|withheld|withhold|withholds/g, 'blocked (a mail), on hold (a response)'],
  [/in hand/g, 'in flight'],
  [/left behind|taken? up left/g, 'stranded, recover'],
  [/(?:un)?settle[sd]?|settling|settlements?/g, 'outcome, decide, record'],
  [/tells?|telling|told|untold/g, 'publish, notify, report, say'],
  [/hears?|hearing|heard|unheard/g, 'subscribe, receive, response'],
  [/happenings?/g, 'signal, event'],
  [/lanes?/g, 'queue, worker'],
  [/life/g, 'lease, lifetime, run'],
  [/doors?/g, 'endpoint, listener, page'],
  [/(?<!\bon )demand(?:s|ed|ing)?/g, 'get (finds or refuses), need'],
  [/forgets?|forgot|forgotten|forgetting/g, 'delete old, discard, clear'],
  [/retires?|retired|retiring/g, 'delete old, revoke'],
  [/beside/g, 'next to, in addition to'],
  [/seldom/g, 'at most every, rarely'],
];
const anyRetired = new RegExp(
  `\\b(?:${retired.map(([words]) => words.source).join('|')})\\b`,
  'gi',
);

/** What a word means to others: an account, a method of the language, a header, a path and a link of the app. */
const foreign =
  /\ballSettled\b|['"`]nobody['"`]|nobody ever answers|\/forgot\b|Forgot password\?|Nobody from support|no nobody none/g;

const files = readFiles(
  ...['src/**/*.{ts,tsx}', 'test/**/*.ts', 'sql/{migrations,steps}/*.sql', 'ops/**/*.{md,ts}'],
  ...['README.md', 'Makefile', '.github/**/*.md'],
).filter(({ path }) => path !== 'test/architecture-words.test.ts');

for (const [place, own] of Map.groupBy(files, ({ path }) => sectionOf(path))) {
  test(`${place} speaks plain words`, () => {
    const found = own.flatMap(retiredWordsIn);
    assert.ok(found.length === 0, found.join('; '));
  });
}

test('the name of a test begins with what it is about, as a list of failures shows nothing else', () => {
  const loose = files.flatMap(({ path, text }) =>
    [
      ...text.matchAll(
        /^ *test\(\s*(['"`])(it|so|and|but|such|who|whoever|one that|one of them|of many at once)\b.*/gm,
      ),
    ].map(([found]) => `${path}: ${found.trim()}`),
  );
  assert.deepEqual(loose, [], 'begin with the noun: a mail, the signature, a caller that');
});

function retiredWordsIn({ path, text }: SourceFile): string[] {
  const plain = spellOut(text.replace(foreign, (word) => ' '.repeat(word.length)));
  return [...plain.matchAll(anyRetired)].map(({ 0: word, index }) => {
    const [, say] = retired.find(([words]) => new RegExp(`^(?:${words.source})$`, 'i').test(word))!;
    const near = plain.slice(Math.max(0, index - 30), index + word.length + 20);
    return `${path}: "${word}", say: ${say} (… ${near} …)`;
  });
}

/** One line of separate words: names are taken apart, comments lose their stars and line ends. */
function spellOut(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/_/g, ' ')
    .replace(/\s*\n\s*(?:\*|\/\/|--|#)?\s*/g, ' ');
}

function sectionOf(path: string): string {
  return path.split('/')[0]!;
}
