import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandTools } from '../../src/command-tools.ts';
import { operationCommands } from '../../src/operations/cli.ts';
import { loadConfig } from '../../src/settings.ts';
import { secretKey } from '../support/processes/program.ts';

async function run(name: string, words: string[]) {
  const environment = {
    DATABASE_URL: 'postgres://127.0.0.1:1/x',
    ASKBACK_SECRET_KEY: secretKey,
  };
  const tools: CommandTools = {
    config: () => loadConfig(environment, () => ''),
    environment,
    say: () => {},
    print: () => {},
    stopSignal: async () => 'SIGTERM',
  };
  return await operationCommands.find((each) => each.name === name)!.run(tools, words, 'askback');
}

const nameServers: [text: string, taken: boolean][] = [
  ['127.0.0.1', true],
  ['127.0.0.1:65535', true],
  ['127.0.0.1:65536', false],
  ['[::1]:65535', true],
  ['dns.example', false],
];
for (const [text, taken] of nameServers) {
  test(`doctor ${taken ? 'accepts' : 'rejects'} the name server ${text}`, async () => {
    const words = ['--resolver', text, '--sends-from', 'mail.example.com'];
    const refusal = '--sends-from must be an IP address';
    const both = `${refusal}; --resolver must be an IP address, or one with a port such as 127.0.0.1:5353`;
    await assert.rejects(run('doctor', words), { message: taken ? refusal : both });
  });
}
