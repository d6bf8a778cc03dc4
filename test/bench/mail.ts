import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { mailFillings, type SurveyMail, surveyMail } from '../../src/letters/letter.ts';
import { compose } from '../../src/lib/smtp/message.ts';
import { readSmtpUrl } from '../../src/lib/smtp/settings.ts';
import { createSmtpPool } from '../../src/lib/smtp/smtp.ts';

/**
 * Cost of an email without Postgres: filling its template, and the pool compared with nodemailer's connections that
 * send the same bytes to the same sink.
 */
const connections = 20;
const mails = 5000;

const mail: SurveyMail = {
  survey: {
    id: '5f0c7f64-1111-4222-8333-444455556666',
    type: 'nps',
    audience: null,
    question_text: 'How likely are you to recommend Bäcker & Söhne to a friend or colleague?',
    subject: null,
    intro: null,
    language: 'en',
    from_name: 'Bäcker & Söhne',
    from_email: 'hello@baker.example',
    reply_to: 'reply@baker.example',
  },
  organization: { id: '9d3c7f64-1111-4222-8333-444455556666', name: 'Bäcker', color: '#2f6fed' },
  publicUrl: 'https://ask.example',
};
const fill = compose(surveyMail(mail));
const filling = mailFillings(mail);
const filled = (n: number) =>
  fill(
    filling(
      { sendId: `0b6f8f0e-${n}`, email: `ada${n}@example.com`, name: 'Zoë Łukasz', token: `t${n}` },
      new Date(),
    ),
  );

const envelope = { from: 'hello@baker.example', to: 'ada@example.com' };

/** Fills mails, and sends them over plain connections and over the pool. */
export async function compareMail({ url, port }: Pick<Sink, 'url' | 'port'>) {
  const fill = await measured(async () => {
    for (let n = 0; n < mails; n += 1) filled(n);
  });
  const bare = rate(await measured(() => overBareConnections(port)));
  const pool = rate(await measured(() => overPool(url)));
  return { fillMicroseconds: (fill.cpuMs * 1000) / mails, bare, pool };
}

async function measured(work: () => Promise<void>) {
  const [begun, cpu] = [performance.now(), process.threadCpuUsage()];
  await work();
  const { user, system } = process.threadCpuUsage(cpu);
  return { ms: performance.now() - begun, cpuMs: (user + system) / 1000 };
}

async function overPool(url: string) {
  const settings = { ...readSmtpUrl(`${url}?tls=none`).settings, connections };
  const pool = createSmtpPool({ ...settings, messagesPerConnection: 1_000_000 });
  const bytes = filled(1);
  await eachConnection(async () => {
    const { kind } = await pool.send(envelope, bytes);
    if (kind !== 'accepted') throw new Error(kind);
  });
  await pool.close();
}

async function overBareConnections(port: number) {
  const bytes = filled(1);
  const open = await Promise.all(Array.from({ length: connections }, () => bareConnection(port)));
  await eachConnection((at) => bareSend(open[at]!, bytes));
  for (const connection of open) connection.quit();
}

/** Runs one worker per connection. They share the mails. */
async function eachConnection(send: (at: number) => Promise<void>) {
  let left = mails;
  const worker = async (_: unknown, at: number) => {
    while (left-- > 0) await send(at);
  };
  await Promise.all(Array.from({ length: connections }, worker));
}

async function bareConnection(port: number) {
  const connection = new SMTPConnection({ host: '127.0.0.1', port, ignoreTLS: true });
  await new Promise<void>((resolve) => connection.connect(() => resolve()));
  return connection;
}

function bareSend(connection: SMTPConnection, bytes: Buffer) {
  return new Promise<void>((resolve, reject) =>
    connection.send({ from: envelope.from, to: [envelope.to] }, bytes, (error) =>
      error ? reject(error) : resolve(),
    ),
  );
}

export type Sink = Awaited<ReturnType<typeof startSink>>;

/** Runs in its own thread, so that it does not count towards the results. */
export async function startSink() {
  const worker = new Worker(new URL('./smtp-sink.ts', import.meta.url));
  const [port] = (await once(worker, 'message')) as [number];
  return { worker, port, url: `smtp://127.0.0.1:${port}` };
}

const rate = ({ ms, cpuMs }: { ms: number; cpuMs: number }) => ({
  perSecond: (mails * 1000) / ms,
  cpuMicroseconds: (cpuMs * 1000) / mails,
});
