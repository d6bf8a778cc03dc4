import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { commandLine } from '../../src/cli.ts';
import type { CommandTools } from '../../src/command-tools.ts';
import { UsageError } from '../../src/lib/cli/command.ts';
import { runCommandLine } from '../../src/lib/cli/command-line.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { keptScreens } from '../support/walls/kept-screens.ts';
import { watchRows } from './changes.ts';
import { type KeptCommand, keptCommands, written } from './commands.ts';
import { withNames, withoutLot } from './scene/names.ts';
import { makeStillScene, secretKey } from './scene/scene.ts';

const { db, url } = await makeStillScene();
const kept = keptScreens('commands');
const changes = await watchRows(db);
const folder = mkdtempSync(join(tmpdir(), 'kept-commands-'));
after(() => rmSync(folder, { recursive: true }));
const environment = {
  ...{ DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey.toString('base64') },
  ...{ ASKBACK_PUBLIC_URL: 'https://askback.test', LOG_LEVEL: 'fatal' },
};

for (const [group, commands] of Object.entries(keptCommands)) {
  test(`what commands of ${group} say, and what they change, is as it is kept`, async () => {
    const lines: string[] = [];
    for (const each of commands) {
      lines.push(...(await run(each)), ...(each.reads ? [] : await changes()), '');
    }
    kept.compare(`${group}.txt`, lines);
  });
}

test('what every command says that works on the database of an organization is kept', () => {
  const words = Object.values(keptCommands)
    .flat()
    .map((each) => each.words.join(' '));
  const missing = commandLine.commands
    .map(({ name }) => name)
    .filter(
      (name) => !keptElsewhere.has(name) && !words.some((typed) => typed.startsWith(`${name} `)),
    );
  assert.deepEqual(missing, []);
});

/** They serve, stand on the whole deployment, write files, or reach other servers: tests of their own look at them. */
const keptElsewhere = new Set([
  ...['serve', 'migrate', 'check-config', 'doctor', 'healthcheck', 'version', 'licenses', 'files'],
  ...['backup', 'restore', 'demo', 'reporter create', 'reporter revoke', 'analyze'],
  'webhook test',
]);

test('what is kept of commands is said by one', () => {
  assert.deepEqual(kept.left(), []);
});

async function run({ words, files = {} }: KeptCommand): Promise<string[]> {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const said: string[] = [];
  const tools: CommandTools = {
    config: () => loadConfig(environment, () => ''),
    variables: () => Object.keys(environment),
    environment,
    say: (sentence) => void said.push(`says ${sentence}`),
    print: (text) => void said.push(text),
    stopSignal: () => new Promise(() => {}),
  };
  const typed = words.map((word) =>
    word in files || word === written ? join(folder, word) : word,
  );
  const end = await runCommandLine(commandLine, tools, typed).catch(refused);
  const text = [
    `$ askback ${words.join(' ')}`,
    ...said,
    end.output,
    `ends with ${end.exitCode}`,
  ].join('\n');
  return withNames(withoutLot(stable(text)))
    .split('\n')
    .map((line) => line.trimEnd());
}

function refused(error: Error) {
  return { output: error.message, exitCode: error instanceof UsageError ? 2 : 1 };
}

/** Without what is drawn by lot. */
const stable = (text: string) =>
  text
    .replaceAll(`${folder}/`, '')
    .replace(/[\d.]+ s, [\d,]+ rows a second/g, 'SOME TIME')
    .replace(/"seconds":[\d.]+/g, '"seconds":TIME')
    .replace(/ask_live_[\w-]{52,}/g, 'ask_live_SECRET')
    .replace(/(?<=(invitations|reset)\/)[\w-]{43}(?![\w-])/g, 'TOKEN')
    .replace(/whsec_[\w+/=]+/g, 'whsec_SECRET');
