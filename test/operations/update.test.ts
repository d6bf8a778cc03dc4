import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { after, test } from 'node:test';
import { examineUpdate } from '../../src/operations/update.ts';

const requests: IncomingMessage[] = [];
const answers: Record<string, string> = {
  '/latest.json': '{"version":"1.10.0"}',
  '/github': '{"tag_name":"v1.10.0","body":"notes"}',
  '/page': '<html>',
};
const server = createServer((request, response) => {
  requests.push(request);
  response.end(answers[request.url ?? '']);
}).listen(0, '127.0.0.1');
after(() => server.close());
await new Promise((listening) => server.once('listening', listening));
const { port } = server.address() as { port: number };
const at = (path: string) => `http://127.0.0.1:${port}${path}`;
const statusOf = async (path: string, own: string) => (await examineUpdate(at(path), own))[0];

test('the doctor warns when a newer version is available', async () => {
  for (const path of ['/latest.json', '/github']) {
    assert.deepEqual(await statusOf(path, '1.9.0'), {
      name: 'update',
      status: 'warn',
      message: 'askback 1.10.0 is available, and 1.9.0 is running',
    });
    assert.equal((await statusOf(path, '1.10.0'))?.status, 'ok');
  }
});

test('the doctor checks for no update without an update URL', async () => {
  requests.length = 0;
  assert.deepEqual(await examineUpdate(null), []);
  assert.equal(requests.length, 0);
});

test('an update check reveals nothing about the installation', async () => {
  requests.length = 0;
  await examineUpdate(at('/latest.json'), '1.0.0');
  const [request] = requests;
  assert.equal(`${request?.method} ${request?.url}`, 'GET /latest.json');
  const { 'user-agent': agent, host: _, ...others } = request!.headers;
  assert.equal(agent, 'askback');
  assert.doesNotMatch(JSON.stringify(others), /1\.0\.0|cookie|referer/i);
});

test('the doctor warns when the update URL returns no version', async () => {
  assert.match((await statusOf('/page', '1.0.0'))!.message, /does not return the latest version/);
});
