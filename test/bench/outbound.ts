import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { createOutbound } from '../../src/lib/outbound/post.ts';

/** Posts per second through the guarded client, compared with plain undici and the same bytes and receiver. */

const concurrency = 100;
const secondsEach = 2;
const body = JSON.stringify({ version: '1', filler: 'x'.repeat(200) });
const headers = { 'content-type': 'application/json' };

export async function comparePosts() {
  const child = fork(fileURLToPath(new URL('./receiver.ts', import.meta.url)));
  const [port] = (await once(child, 'message')) as [number];
  const url = `http://127.0.0.1:${port}/hook`;

  const agent = new Agent({ connections: concurrency });
  const bare = async () => {
    const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent });
    await answer.body.text();
  };
  const outbound = createOutbound({
    allow: ['127.0.0.0/8'],
    http: true,
    perHostConnections: concurrency,
  });
  const guarded = async () => {
    const answer = await outbound.post(url, { group: 'a', headers, body, deadlineMs: 10_000 });
    if (answer.error !== null) throw new Error(answer.error);
  };

  await measure(bare, 0.5);
  await measure(guarded, 0.5);
  const compared = {
    bare: await measure(bare, secondsEach),
    guarded: await measure(guarded, secondsEach),
  };
  await outbound.close();
  await agent.destroy();
  child.kill();
  return compared;
}

/** On a shared machine, the CPU time of a post is more reliable than its rate. */
async function measure(work: () => Promise<void>, seconds: number) {
  const end = performance.now() + seconds * 1000;
  const before = process.cpuUsage();
  let done = 0;
  const worker = async () => {
    while (performance.now() < end) {
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const { user, system } = process.cpuUsage(before);
  const cpuMicroseconds = Number(((user + system) / done).toFixed(1));
  return { perSecond: Math.round(done / seconds), cpuMicroseconds };
}
