import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  command,
  flag,
  option,
  optional,
  runCommandLine,
  UsageError,
} from '../../../src/lib/cli/command.ts';
import { Line } from '../../../src/lib/validation/parse.ts';

const says = (name: string) =>
  command({
    name,
    does: `Does ${name}.`,
    options: { loud: flag('shout') },
    run: async (_: null, { loud }) => ({ data: { name, loud }, text: loud ? `${name}!` : name }),
  });

const copy = command({
  name: 'tea copy',
  does: 'Copies.',
  operands: ['from', 'to'],
  options: {
    from: option(Line(3), 'FROM', 'what to copy'),
    to: optional(Line(3), 'TO', 'where to'),
    note: option(Line(3), 'NOTE', 'why'),
  },
  run: async (_: null, values) => ({ data: values, text: JSON.stringify(values) }),
});

const catalog = {
  name: 'kettle',
  about: 'Makes tea.',
  commands: [
    says('serve'),
    says('tea brew'),
    copy,
    says('teapots'),
    says('teapots wash'),
    says('version'),
  ],
};

const run = async (...words: string[]) => (await runCommandLine(catalog, null, words)).output;

async function complaintOf(...words: string[]) {
  const error = await run(...words).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof UsageError, String(error));
  return error.message;
}

const listing = 'tea brew  Does tea brew.\ntea copy  Copies.';
for (const [words, output] of [
  ['', 'serve'],
  ['--loud', 'serve!'],
  ['tea brew --loud', 'tea brew!'],
  ['teapots', 'teapots'],
  ['teapots wash', 'teapots wash'],
  ['--version', 'version'],
  ['-v --loud', 'version!'],
  ['tea brew -V', 'version'],
  ['tea --help', listing],
  ['tea -h', listing],
  ['help tea', listing],
  ['--help tea', listing],
] as const) {
  test(`\`kettle ${words}\` prints ${JSON.stringify(output)}`, async () =>
    assert.equal(await run(...words.split(' ').filter(Boolean)), output));
}

test('every form of --help prints the same', async () => {
  const help = `Copies.

usage: kettle tea copy FROM [TO] --note NOTE [--json]

FROM         what to copy
TO           where to
--note NOTE  why
--json       print JSON
--help       print this help`;
  for (const words of [
    ['help', 'tea', 'copy'],
    ['tea', 'copy', '--help'],
    ['tea', 'copy', 'a', '-h'],
  ]) {
    assert.equal(await run(...words), help, words.join(' '));
  }
  const overview =
    /^Makes tea\.\n\nusage: kettle \[COMMAND\] .*\n\nserve +Does serve\.\n(.*\n){5}\n/;
  for (const words of [['help'], ['-h'], ['help', 'milk']])
    assert.match(await run(...words), overview);
});

for (const [words, complaint] of [
  ['tea', "'tea' needs a subcommand"],
  ['tea --loud', "'tea' needs a subcommand"],
  ['tea brwe', "'tea brwe' is not a command; did you mean 'tea brew'?"],
  ['tea milk', "'tea milk' is not a command"],
  ['milk', "'milk' is not a command"],
  ['milk --help', "'milk' is not a command"],
  ['brew', "'brew' is not a command"],
  ['sreve', "'sreve' is not a command; did you mean 'serve'?"],
  ['sreve --loud', "'sreve' is not a command; did you mean 'serve'?"],
  ['eta', "'eta' is not a command; did you mean 'tea'?"],
  ['eta brew', "'eta' is not a command; did you mean 'tea brew'?"],
  ['serve --loud --version', "unknown option '--version'"],
  ['serve --luod', "unknown option '--luod'; did you mean '--loud'?"],
  ['serve --loud --loud', '--loud can be used only once'],
  ['serve x', "unexpected argument 'x'"],
  ['tea copy a b c --note x', "unexpected argument 'c'"],
  ['tea copy --note', '--note needs a value'],
  ['tea copy abcd', 'FROM must be at most 3 characters; --note is required'],
  ['tea copy', 'FROM is required; --note is required'],
  [
    'tea copy a abcd --note abcd',
    'TO must be at most 3 characters; --note must be at most 3 characters',
  ],
] as const) {
  test(`\`kettle ${words}\` is refused: ${complaint}`, async () =>
    assert.equal(await complaintOf(...words.split(' ')), complaint));
}

test('operands are read in order, and the last can be optional', async () => {
  assert.equal(
    await run('tea', 'copy', 'a', 'b', '--note', 'c'),
    '{"from":"a","to":"b","note":"c"}',
  );
  assert.deepEqual(JSON.parse(await run('tea', 'copy', 'a', '--note', 'c', '--json')), {
    from: 'a',
    note: 'c',
  });
});
