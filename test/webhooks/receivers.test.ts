import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { deliveryHeaders, spellSecret } from '../../src/webhooks/deliver.ts';
import { responseReceived } from '../../src/webhooks/events.ts';
import { freePort } from '../support/processes/free-port.ts';

/** Runs the receivers as described in ops/webhooks.md. */
const [secret, newSecret] = [5, 6].map((byte) => spellSecret(new Uint8Array(32).fill(byte)));
const { body } = responseReceived({
  surveyId: 's',
  responseId: 'r',
  surveyType: 'nps',
  score: 9,
  at: new Date(),
  comment: 'Zoë – 名前',
});

const runs = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
const languages = [
  { name: 'Node', here: true, command: () => [process.execPath, 'ops/webhooks/verify.mjs'] },
  {
    name: 'Python',
    here: runs('python3', '--version'),
    command: () => ['python3', 'ops/webhooks/verify.py'],
  },
  { name: 'Go', here: runs('go', 'version'), command: buildGo },
];

for (const { name, here, command } of languages) {
  if (!here) {
    console.log(`${name} is not on this machine: its receiver was not run`);
    continue;
  }
  test(`the ${name} receiver accepts only signed deliveries`, async (t) => {
    const post = await receiver(t, command(t));
    const now = new Date();
    const signed = headers(now);

    assert.equal(await post(signed, body), 204);
    assert.equal(await post(signed, body.replace('9', '8')), 401, 'another body');
    assert.equal(await post({}, body), 401, 'no signature');
    const hours = (count: number) => new Date(now.getTime() + count * 3600_000);
    assert.equal(await post(headers(hours(-1)), body), 401, 'an old time');
    assert.equal(await post(headers(hours(1)), body), 401, 'a time to come');
    assert.equal(await post({ ...signed, 'webhook-id': 'other' }, body), 401, 'another id');
    const broken = { ...signed, 'X-Service-Signature': '\u00e4' };
    assert.equal(await post(broken, body), 401, 'an invalid signature');
    const rotated = headers(now, { secret: newSecret!, previousSecret: secret! });
    const both = { ...rotated, 'X-Service-Signature': signed['X-Service-Signature']! };
    assert.equal(await post(both, body), 204, 'the second of two signatures');
  });
}

test('the page documents every receiver, header and event', () => {
  const page = readFileSync('ops/webhooks.md', 'utf8');
  const words = ['verify.mjs', 'verify.py', 'verify.go', ...Object.keys(headers(new Date()))];
  for (const word of words.filter((each) => !/^(Content-Type|User-Agent)$/.test(each))) {
    assert.ok(page.includes(word), word);
  }
  const examples = [...page.matchAll(/^\{"version".*\}$/gm)].map(([text]) => JSON.parse(text));
  assert.equal(examples.length, 5);
  assert.deepEqual(Object.keys(examples[0]), Object.keys(JSON.parse(body)));
});

function headers(at: Date, over: { secret?: string; previousSecret?: string } = {}) {
  const named = { id: 'd-1', message_id: 'm-1', event: 'response.received', body, at };
  return deliveryHeaders('Service', { ...named, secret: secret!, previousSecret: null, ...over });
}

function buildGo(t: TestContext): string[] {
  const home = mkdtempSync(join(tmpdir(), 'askback-receiver-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const built = spawnSync('go', ['build', '-o', join(home, 'verify'), 'ops/webhooks/verify.go']);
  assert.equal(built.status, 0, String(built.stderr));
  return [join(home, 'verify')];
}

async function receiver(t: TestContext, [command, ...args]: string[]) {
  const port = freePort();
  const child = spawn(command!, [...args, String(port)], {
    env: { ...process.env, WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  assert.equal(line, 'listening');
  return async (given: Record<string, string>, text: string) => {
    const headers = Object.entries(given).map(([name, value]) => [name, value] as const);
    const init = { method: 'POST', headers: Object.fromEntries(headers), body: text };
    return (await fetch(`http://127.0.0.1:${port}/`, init)).status;
  };
}
