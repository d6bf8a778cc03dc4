/** Posts a second through the guarded client, against bare undici sending the same bytes to the same receiver. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Agent, request } from 'undici';
import { createOutbound } from '../../src/platform/outbound/post.ts';

const concurrency = 100;
const secondsEach = 2;
const rounds = 3;
const body = JSON.stringify({ version: '1', filler: 'x'.repeat(200) });
const headers = { 'content-type': 'application/json' };

if (process.send) receive();
else await compare();

function receive() {
  const server = createServer((incoming, answer) => {
    incoming.resume().on('end', () => answer.end('ok'));
  });
  server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
}

async function compare() {
  const child = fork(import.meta.filename);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
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
    const answer = await outbound.post(url, { headers, body, deadlineMs: 10_000 });
    if (answer.error !== null) throw new Error(answer.error);
  };

  await measure(bare, 0.5);
  await measure(guarded, 0.5);
  for (let round = 0; round < rounds; round++) {
    const [floor, ours] = [await measure(bare, secondsEach), await measure(guarded, secondsEach)];
    const ratio = (one: number, other: number) => Number((one / other).toFixed(2));
    console.log({ bare: floor, guarded: ours, ratio: ratio(ours.perSecond, floor.perSecond) });
  }
  await outbound.close();
  await agent.destroy();
  child.kill();
}

/** The processor time of a post says more than its rate on a machine that others use too. */
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
