import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLine } from '../src/cli.ts';
import type { CommandTools } from '../src/command-tools.ts';
import { runCommandLine } from '../src/lib/cli/command.ts';

const id = '00000000-0000-4000-8000-000000000000';
const create = ['org', 'create', '--name', 'A'];
const of = ['--org', id];

/** The numbers that options take, from the least to the most. */
const numbers: [words: string[], option: string, least: number, most: number][] = [
  [create, 'send-limit', 0, 999_999_999],
  [create, 'frequency-days', 0, 3650],
  [create, 'keep-comments-days', 0, 36_500],
  [create, 'keep-contacts-days', 0, 36_500],
  [create, 'keep-openings-days', 0, 90],
  [create, 'keep-mails-days', 0, 36_500],
  [['org', 'update', '--id', id], 'send-limit', 0, 999_999_999],
  [['org', 'update', '--id', id], 'frequency-days', 0, 3650],
  [['org', 'update', '--id', id], 'keep-openings-days', 0, 90],
  [['erasure', 'list', ...of], 'limit', 1, 200],
  [['audit', 'list', ...of], 'limit', 1, 200],
  [['response', 'list', ...of], 'limit', 1, 200],
  [['suppression', 'list', ...of], 'limit', 1, 200],
  [['survey', 'update', '--id', id], 'ask-after-days', 0, 365],
  [['campaign', 'create', '--survey', id, '--name', 'A'], 'per-hour', 1, 1_000_000],
];

/** What a command says of its words before it does anything. */
async function said(words: string[]): Promise<string> {
  const taken = new Error('taken');
  const tools = new Proxy({} as CommandTools, {
    get: () => () => {
      throw taken;
    },
  });
  try {
    await runCommandLine(commandLine, tools, words);
  } catch (error) {
    return (error as Error).message;
  }
  return 'done';
}

for (const [words, option, least, most] of numbers) {
  test(`askback ${words.slice(0, 2).join(' ')} takes --${option} from ${least} to ${most}`, async () => {
    const saidOf = (number: number) => said([...words, `--${option}=${number}`]);
    assert.equal(await saidOf(least), 'taken');
    assert.equal(await saidOf(most), 'taken');
    assert.match(await saidOf(least - 1), /must be (at least|a whole number)/);
    assert.match(await saidOf(most + 1), /must be (at most|a whole number)/);
  });
}
