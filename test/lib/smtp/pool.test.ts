import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { type MailOutcome, tidy } from '../../../src/lib/smtp/connection.ts';
import type { SmtpSettings } from '../../../src/lib/smtp/settings.ts';
import { createSmtpPool, createThrottle } from '../../../src/lib/smtp/smtp.ts';
import {
  closeConnection,
  noReply,
  type Script,
  scriptedSmtp,
  settingsFor,
} from '../../support/fakes/smtp-server.ts';
import { until } from '../../support/probe/until.ts';

const envelope = { from: 'hallo@baecker.example', to: 'ada@example.com' };
const message = Buffer.from('Subject: hello\r\n\r\n.a dot\r\n..two\r\n');
const impatient: Partial<SmtpSettings> = { connectTimeoutMs: 700, silenceTimeoutMs: 700 };

async function sendTo(script: Script, own: Partial<SmtpSettings> = {}) {
  const server = await scriptedSmtp(script);
  await using pool = closing(createSmtpPool(settingsFor(server.url, own)));
  return { outcome: await pool.send(envelope, message), ...server.seen };
}

const closing = (pool: ReturnType<typeof createSmtpPool>) =>
  Object.assign(pool, { [Symbol.asyncDispose]: () => pool.close() });

test('an accepted message arrives byte for byte, dot-stuffed', async () => {
  const { outcome, messages } = await sendTo({});
  assert.deepEqual(outcome, { kind: 'accepted', response: '250 2.0.0 queued as 1' });
  assert.deepEqual(messages, ['Subject: hello\r\n\r\n..a dot\r\n...two\r\n']);
});

const refusals: [why: string, script: Script, expected: Partial<MailOutcome> & object][] = [
  [
    'an unknown mailbox at RCPT is permanent and known as such',
    { RCPT: '550 5.1.1 no such user' },
    { permanent: true, code: 550, enhanced: '5.1.1', unknownMailbox: true, about: 'mail' },
  ],
  [
    'a policy at RCPT is permanent but the mailbox may exist',
    { RCPT: '554 5.7.1 we do not like you' },
    { permanent: true, code: 554, enhanced: '5.7.1', unknownMailbox: false, about: 'policy' },
  ],
  [
    'a 5.1.x about the sender says nothing of the mailbox',
    { MAIL: '550 5.1.8 bad sender' },
    { permanent: true, code: 550, enhanced: '5.1.8', unknownMailbox: false, about: 'sender' },
  ],
  [
    'a message too large for the server is refused alone, also at MAIL',
    { MAIL: '552 5.3.4 too large' },
    { permanent: true, about: 'mail' },
  ],
  [
    'a permanent refusal without an enhanced code does not bounce the contact',
    { RCPT: '550 user unknown' },
    { permanent: true, code: 550, enhanced: null, unknownMailbox: false },
  ],
  ['greylisting is transient', { RCPT: '450 4.7.1 later' }, { permanent: false, code: 450 }],
  ['a full disk at DATA is transient', { DATA: '452 4.3.1 full' }, { permanent: false, code: 452 }],
  [
    'spam after the dot is permanent',
    { dot: '554 5.7.1 spam' },
    { permanent: true, code: 554, about: 'policy' },
  ],
  [
    'a 4xx after the dot is a definite no to this try',
    { dot: '451 4.3.0 try' },
    { permanent: false, code: 451 },
  ],
  [
    'too busy to greet is transient',
    { greeting: '421 4.3.2 busy' },
    { permanent: false, code: 421 },
  ],
  [
    'an unwelcome client is refused for good',
    { greeting: '554 5.7.1 go away' },
    { permanent: true, code: 554, about: 'server' },
  ],
  [
    '421 in the middle is transient',
    { RCPT: '421 4.4.2 closing' },
    { permanent: false, code: 421 },
  ],
  [
    'the lines of a long refusal become one',
    { dot: '550-5.7.1 line one\r\n550 5.7.1 line two' },
    { response: '550-5.7.1 line one 550 5.7.1 line two' },
  ],
];

for (const pipelining of [true, false]) {
  const EHLO = pipelining ? '250-sink\r\n250 PIPELINING' : '250 sink';
  for (const [why, script, expected] of refusals) {
    test(`${why}, ${pipelining ? 'with' : 'without'} pipelining`, async () => {
      const { outcome } = await sendTo({ EHLO, ...script });
      assert.equal(outcome.kind, 'refused');
      assert.partialDeepStrictEqual(outcome, expected);
    });
  }
}

const losses: [why: string, script: Script, kind: MailOutcome['kind']][] = [
  ['no greeting', { greeting: noReply }, 'lost'],
  ['no answer to EHLO', { EHLO: noReply }, 'lost'],
  ['a connection that ends at EHLO', { EHLO: closeConnection }, 'lost'],
  ['no answer to MAIL', { MAIL: noReply }, 'lost'],
  ['a connection that ends at RCPT', { RCPT: closeConnection }, 'lost'],
  ['no answer to DATA', { DATA: noReply }, 'lost'],
  ['a connection that ends at DATA', { DATA: closeConnection }, 'lost'],
  ['no answer after the final dot', { dot: noReply }, 'unknown'],
  ['a connection that ends after the final dot', { dot: closeConnection }, 'unknown'],
  ['nonsense after the final dot', { dot: 'what was that?' }, 'unknown'],
  ['a third question after the final dot', { dot: '354 and now?' }, 'unknown'],
  ['nonsense for a greeting', { greeting: 'HTTP/1.1 400 Bad Request' }, 'lost'],
];

// The lowest and highest code of each kind of reply, and their neighbours.
const accepted = { kind: 'accepted' } as const;
const later = { kind: 'refused', permanent: false } as const;
const never = { kind: 'refused', permanent: true } as const;
const codes: [moment: 'DATA' | 'dot', code: string, expected: Partial<MailOutcome>][] = [
  ['DATA', '299', { kind: 'unknown' }],
  ['DATA', '300', accepted],
  ['DATA', '399', accepted],
  ['DATA', '400', later],
  ['dot', '199', { kind: 'unknown' }],
  ['dot', '200', accepted],
  ['dot', '299', accepted],
  ['dot', '300', { kind: 'unknown' }],
  ['dot', '399', { kind: 'unknown' }],
  ['dot', '400', later],
  ['dot', '499', later],
  ['dot', '500', never],
  ['dot', '599', never],
  ['dot', '600', { kind: 'unknown' }],
];
for (const [moment, code, expected] of codes) {
  test(`${code} after the ${moment === 'dot' ? 'final dot' : 'command DATA'}: ${JSON.stringify(expected)}`, async () => {
    const { outcome } = await sendTo({ [moment]: `${code} so` });
    assert.partialDeepStrictEqual(outcome, expected as object);
  });
}

for (const [why, script, kind] of losses) {
  test(`${why}: ${kind}`, async () => {
    const { outcome } = await sendTo(script, impatient);
    assert.equal(outcome.kind, kind);
  });
}

test('a long message is lost when the connection breaks midway', async () => {
  const server = createServer((socket) => {
    let received = 0;
    socket.on('error', () => {});
    socket.write('220 sink\r\n');
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      if (text.startsWith('EHLO')) socket.write('250 sink\r\n');
      else if (/^(MAIL|RCPT)/.test(text)) socket.write('250 ok\r\n');
      else if (text.startsWith('DATA')) socket.write('354 go on\r\n');
      else received += chunk.length;
      if (received > 100_000) socket.resetAndDestroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await using pool = closing(createSmtpPool(settingsFor(`smtp://127.0.0.1:${port}`)));
  const long = Buffer.alloc(64 * 1024 * 1024, 'all work and no play\r\n');
  const outcome = await pool.send(envelope, long);
  server.close();
  assert.equal(outcome.kind, 'lost');
});

test('a message is lost, with the reason, when no server listens', async () => {
  const server = await scriptedSmtp();
  server.close();
  await using pool = closing(createSmtpPool(settingsFor(server.url)));
  const outcome = await pool.send(envelope, message);
  assert.equal(outcome.kind, 'lost');
  assert.match(outcome.reason, /ECONNREFUSED/);
});

test('a server that replies byte by byte is left after the time limit', async () => {
  const drip = () => {
    const [socket] = server.sockets;
    const timer = setInterval(() => socket?.write('250-still thinking\r\n'), 20);
    socket?.on('close', () => clearInterval(timer));
    return noReply;
  };
  const server = await scriptedSmtp({ dot: drip });
  const settings = settingsFor(server.url, { ...impatient, wholeTimeoutMs: 2000 });
  await using pool = closing(createSmtpPool(settings));
  const outcome = await pool.send(envelope, message);
  assert.deepEqual(outcome, { kind: 'unknown', reason: 'the server took too long' });
});

test('a message that hangs delays no other message', async () => {
  const RCPT = (line: string) => (line.includes('slow@') ? noReply : '250 ok');
  const server = await scriptedSmtp({ EHLO: '250 sink', RCPT });
  const settings = settingsFor(server.url, { connections: 2 });
  await using pool = closing(createSmtpPool(settings));
  const order: string[] = [];
  const stop = new AbortController();
  const hanging = pool.send({ ...envelope, to: 'slow@example.com' }, message, {
    signal: stop.signal,
  });
  const hung = hanging.then(({ kind }) => order.push(kind));
  for (let n = 0; n < 50; n += 1) order.push((await pool.send(envelope, message)).kind);
  stop.abort();
  await hung;
  assert.deepEqual(order, [...Array(50).fill('accepted'), 'lost']);
});

test('aborting before the final dot loses the message at once', async () => {
  const server = await scriptedSmtp({ EHLO: '250 sink', MAIL: noReply });
  await using pool = closing(createSmtpPool(settingsFor(server.url, { connections: 1 })));
  const stop = new AbortController();
  const outcomes = Promise.all(
    [1, 2].map(() => pool.send(envelope, message, { signal: stop.signal })),
  );
  await untilReceived(server, 'MAIL');
  stop.abort();
  assert.deepEqual(
    (await outcomes).map(({ kind }) => kind),
    ['lost', 'lost'],
  );
});

test('aborting after the final dot makes the outcome unknown', async () => {
  const stop = new AbortController();
  const dot = () => {
    stop.abort();
    return noReply;
  };
  const server = await scriptedSmtp({ dot });
  await using pool = closing(createSmtpPool(settingsFor(server.url)));
  assert.equal((await pool.send(envelope, message, { signal: stop.signal })).kind, 'unknown');
});

/** A pool that records the reported problems of its server. */
function observedPool(url: string, own: Partial<SmtpSettings> = {}, probeEveryMs = 60_000) {
  const problems: unknown[] = [];
  const onProblem = (problem: unknown) => void problems.push(problem);
  const pool = createSmtpPool(settingsFor(url, own), { onProblem, probeEveryMs });
  return { pool: closing(pool), problems };
}

test('a rejected connection is a problem until a mail is accepted', async () => {
  let greeting = '554 5.7.1 go away';
  const { url } = await scriptedSmtp({ greeting: () => greeting });
  const { pool, problems } = observedPool(url);
  await using _ = pool;
  await pool.send(envelope, message);
  await pool.send(envelope, message);
  assert.equal(pool.problem(), 'refused');
  greeting = '220 sink ready';
  await pool.send(envelope, message);
  assert.deepEqual(problems, ['refused', null]);
});

test('an unreachable server is a problem after 3 tries in 3 seconds', async (t) => {
  const { url, close } = await scriptedSmtp();
  close();
  const { pool, problems } = observedPool(url);
  await using _ = pool;
  await pool.send(envelope, message);
  await pool.send(envelope, message);
  const now = performance.now();
  t.mock.method(performance, 'now', () => now + 3000);
  assert.equal(pool.problem(), null);
  await pool.send(envelope, message);
  assert.deepEqual(problems, ['unreachable']);
});

test('a probe sees that a server works again when no mail is sent', async () => {
  let greeting = '554 5.7.1 go away';
  const { url, seen } = await scriptedSmtp({ greeting: () => greeting });
  const { pool, problems } = observedPool(url, {}, 20);
  await using _ = pool;
  await pool.send(envelope, message);
  await until('it is tried again', () => seen.connections > 1);
  greeting = '220 sink ready';
  await until('it works again', () => pool.problem() === null);
  assert.deepEqual([problems, seen.messages], [['refused', null], []]);
});

test('many messages share a bounded number of connections', async () => {
  const server = await scriptedSmtp();
  await using pool = closing(createSmtpPool(settingsFor(server.url, { connections: 3 })));
  const outcomes = await Promise.all(
    Array.from({ length: 60 }, () => pool.send(envelope, message)),
  );
  assert.ok(outcomes.every(({ kind }) => kind === 'accepted'));
  assert.equal(server.seen.messages.length, 60);
  assert.equal(server.seen.connections, 3);
});

test('a connection survives rejections and quits after its maximum', async () => {
  let n = 0;
  const server = await scriptedSmtp({ RCPT: () => (++n % 2 ? '550 5.1.1 no' : '250 ok') });
  const settings = settingsFor(server.url, { connections: 1, messagesPerConnection: 4 });
  await using pool = closing(createSmtpPool(settings));
  const kinds = [];
  for (let sent = 0; sent < 8; sent += 1) kinds.push((await pool.send(envelope, message)).kind);
  assert.deepEqual(kinds, Array(4).fill(['refused', 'accepted']).flat());
  await untilReceived(server, 'QUIT', 2);
  assert.equal(server.seen.connections, 2);
});

test('an idle connection quits after 15 seconds', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const server = await scriptedSmtp();
  await using pool = closing(createSmtpPool(settingsFor(server.url)));
  await pool.send(envelope, message);
  t.mock.timers.tick(14_999);
  assert.equal(pool.state().idle, 1);
  t.mock.timers.tick(1);
  assert.equal(pool.state().idle, 0);
  await untilReceived(server, 'QUIT');
});

test('a server that closed an idle connection costs no message', async () => {
  const server = await scriptedSmtp();
  await using pool = closing(createSmtpPool(settingsFor(server.url)));
  await pool.send(envelope, message);
  for (const socket of server.sockets) socket.destroy();
  assert.equal((await pool.send(envelope, message)).kind, 'accepted');
});

test('a server that closes at the next MAIL costs no message', async () => {
  let mails = 0;
  const server = await scriptedSmtp({ MAIL: () => (++mails === 2 ? closeConnection : '250 ok') });
  await using pool = closing(createSmtpPool(settingsFor(server.url)));
  await pool.send(envelope, message);
  assert.equal((await pool.send(envelope, message)).kind, 'accepted');
  assert.equal(server.seen.messages.length, 2);
});

test('421 and 454 halve the connections, and accepted mails restore them', async () => {
  let busy = true;
  const server = await scriptedSmtp({ MAIL: () => (busy ? '454 4.7.0 slower' : '250 ok') });
  const settings = settingsFor(server.url, { connections: 8 });
  await using pool = closing(createSmtpPool(settings));
  await Promise.all(Array.from({ length: 8 }, () => pool.send(envelope, message)));
  assert.equal(pool.state().limit, 4);
  busy = false;
  for (let n = 0; n < 40; n += 1) await pool.send(envelope, message);
  assert.equal(pool.state().limit, 8);
});

test('an accepted DATA after a rejected recipient delivers nothing', async () => {
  const { outcome, messages } = await sendTo({ RCPT: '550 5.1.1 no', DATA: '354 go on' });
  assert.partialDeepStrictEqual(outcome, { kind: 'refused', code: 550, unknownMailbox: true });
  assert.deepEqual(messages, ['\r\n']);
});

test('a message above the SIZE limit is not sent', async () => {
  const { outcome, commands } = await sendTo({ EHLO: '250-sink\r\n250 SIZE 10' });
  assert.partialDeepStrictEqual(outcome, { kind: 'refused', permanent: true, code: 552 });
  assert.deepEqual(
    commands.filter((line) => line.startsWith('MAIL')),
    [],
  );
});

test('close waits for messages in flight and accepts no more', async () => {
  const server = await scriptedSmtp();
  const pool = createSmtpPool(settingsFor(server.url));
  const sending = pool.send(envelope, message);
  await pool.close();
  assert.equal((await sending).kind, 'accepted');
  assert.equal((await pool.send(envelope, message)).kind, 'lost');
});

async function untilReceived(
  { seen }: { seen: { commands: string[] } },
  command: string,
  times = 1,
) {
  while (seen.commands.filter((line) => line.startsWith(command)).length < times) await tick();
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

const EHLO = '250-sink\r\n250 PIPELINING';

for (const [MAIL, kind] of [
  ['421 4.3.2 closing', 'refused'],
  ['420 4.3.2 later', 'lost'],
  ['422 4.3.2 later', 'lost'],
] as const) {
  test(`a missing reply after ${MAIL.slice(0, 3)} is ${kind === 'refused' ? 'not ' : ''}awaited`, async () => {
    const server = await scriptedSmtp({ EHLO, MAIL, RCPT: noReply, DATA: noReply });
    const patience = { silenceTimeoutMs: 60_000, wholeTimeoutMs: kind === 'lost' ? 200 : 20_000 };
    const pool = createSmtpPool(settingsFor(server.url, patience));
    const outcome = await pool.send(envelope, message);
    await pool.close();
    assert.equal(outcome.kind, kind);
  });
}

test('pauses of a throttling server grow to 30 seconds', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const throttle = createThrottle({ connections: 1, messagesPerSecond: null });
  const pauses: number[] = [];
  for (let complaint = 0; complaint < 9; complaint++) {
    const leave = await throttle.enter('a');
    leave!('throttled');
    const next = throttle.enter('a');
    let entered = false;
    void next.then(() => {
      entered = true;
    });
    const began = now;
    while (!entered) {
      now += 500;
      t.mock.timers.tick(500);
      await new Promise(setImmediate);
    }
    pauses.push(now - began);
    (await next)!('failed');
  }
  assert.deepEqual(pauses, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

test('replies are cut to 500 characters on one line', () => {
  assert.equal(tidy(' 550-no\r\n\t550 \0no '), '550-no 550 no');
  assert.equal(tidy('x'.repeat(500)), 'x'.repeat(500));
  assert.equal(tidy('x'.repeat(501)), 'x'.repeat(500));
  assert.equal(tidy(`${'x'.repeat(498)}😀`), `${'x'.repeat(498)}😀`);
  assert.equal(tidy(`${'x'.repeat(499)}😀`), `${'x'.repeat(499)}\ufffd`);
});
