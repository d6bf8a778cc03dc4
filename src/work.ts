import program from '../package.json' with { type: 'json' };
import { createAppMailer } from './app-mailer.ts';
import { Refusal } from './errors.ts';
import { jobsAtOnce } from './jobs.ts';
import type { Secrets } from './lib/crypto/secrets.ts';
import type { Sql } from './lib/db/db.ts';
import type { Log } from './lib/log/log.ts';
import { createOutbound, type Outbound } from './lib/outbound/post.ts';
import type { Lifecycle } from './lib/process/lifecycle.ts';
import { holdLease } from './lib/queue/lease.ts';
import { type Jobs, startJobs } from './lib/queue/runner.ts';
import { createDkimSigner } from './lib/smtp/dkim.ts';
import { readSmtpUrl } from './lib/smtp/settings.ts';
import { createSmtpPool, type MailTransport } from './lib/smtp/smtp.ts';
import { createMailbox } from './mailbox/mailbox.ts';
import type { Database } from './open-database.ts';
import { type ErasureFile, fileErasures, openErasureFile } from './people/receipts-file.ts';
import { createRedactionWorker, type RedactionWorker } from './redaction-worker.ts';
import { resealSecrets } from './reseal.ts';
import { hasWaiting } from './responses/waiting-analyses.ts';
import { createMailer, createMailJobs } from './sends/mail-job.ts';
import { createSendProgress, type SendProgress } from './sends/send.ts';
import { type Config, configuredSecrets } from './settings.ts';
import { chooseAnalyst } from './summaries/analyst.ts';
import {
  type CommentReader,
  createAnalystQueue,
  createCommentReader,
} from './summaries/comment-reader.ts';
import { crontab, tasks } from './tasks.ts';
import { hasWebhookDue } from './webhooks/delivery.queries.ts';
import type { OwnDeliveries } from './webhooks/emit.ts';
import { createDeliveryWorker } from './webhooks/worker.ts';

type Saying = { say: (sentence: string) => void };

const connectionsPerHost = 128;
/** Each notification takes a database-wide lock at commit: one for all deliveries of this time costs nothing. */
const notifyEveryMs = 50;

/** Starts everything that works behind the requests, or what requests need of it where other processes do the work. */
export async function startWork(given: Work & Saying) {
  const { config, log, parts, database, say } = given;
  const { db, sessions } = database;
  const secrets = configuredSecrets(config, database.dataDir);
  const outbound = await parts.start(
    'outbound',
    () => createOutbound({ ...config.webhooks, perHostConnections: connectionsPerHost }),
    (it) => it.close(),
  );
  const [progress] = await Promise.all([
    parts.start('send progress', () => createSendProgress({ db, log, listenOn: sessions.db })),
    parts.start('secrets', () => resealSecrets({ db, log, secrets })),
  ]);
  const reader = await startReader({ log, parts });
  const erasureFile = await startErasureFile({ config, log, parts, database, say });
  const shared = { secrets, outbound, progress, reader, erasureFile };
  const started = config.role === 'web' ? handOver(given) : await startJobWork(given, shared);
  const { judge: judgeTarget } = outbound;
  const read = { excerpt: reader.excerpt, readReport: reader.report, erasureFile };
  return {
    ...started,
    ...read,
    outbound,
    judgeTarget,
    secrets,
    progress,
    mailbox: !config.smtpUrl,
  };
}

/**
 * For a process that only answers requests. It claims nothing, and keeps nothing for a job that runs elsewhere: a
 * process with the role jobs claims the deliveries as soon as it is notified.
 */
function handOver({ log, database }: Work) {
  let isWaiting = false;
  const notify = () => {
    isWaiting = false;
    database.sessions.db
      .notify(deliveriesChannel, '')
      .catch((err: unknown) =>
        log.debug({ err }, 'cannot notify of deliveries, a sweep finds them'),
      );
  };
  const deliveries: OwnDeliveries = {
    owner: () => null,
    start({ events }) {
      if (events.length === 0 || isWaiting) return;
      isWaiting = true;
      setTimeout(notify, notifyEveryMs).unref();
    },
  };
  return { jobs: undefined, deliveries };
}

async function startErasureFile(given: Omit<Work, 'publicUrl'> & Saying) {
  const { config, log, parts, database, say } = given;
  const erasureFile = await parts.start(
    'file of erasures',
    () => openErasureFile(config, database.dataDir, (sentence) => log.warn(sentence)),
    (it) => it.close(),
  );
  if (config.erasuresFile && erasureFile.problem)
    say(`warning: ASKBACK_ERASURES_FILE: ${erasureFile.problem}`);
  await fileErasures({ db: database.db, erasureFile });
  return erasureFile;
}

const startReader = ({ log, parts }: Pick<Work, 'log' | 'parts'>) =>
  parts.start('text reader', () => createRedactionWorker(log));

const mailboxConcurrency = 20;
/** Work of dead processes is to go on within a second. */
const sweepEveryMs = 900;
/** Notified by a process that commits deliveries and makes none. */
const deliveriesChannel = 'askback_deliveries';
/** Requests end before it and the rest after it: together they take less than the 30 seconds promised. */
const timing = { stopWithinMs: 13_000 };

type Work = {
  config: Config;
  log: Log;
  parts: Lifecycle;
  database: Database;
  publicUrl: string;
};

type SharedWork = {
  secrets: Secrets;
  outbound: Outbound;
  progress: SendProgress;
  reader: RedactionWorker;
  erasureFile: ErasureFile;
};

/** Jobs, deliveries to webhooks, mail. One line a part. */
async function startJobWork(
  { config, log, parts, database, publicUrl }: Work,
  { secrets, outbound, progress, reader, erasureFile }: SharedWork,
) {
  const { db, sessions } = database;
  const { mailer, appMailer } = await startMailers({ config, parts, database, publicUrl });
  const lease = await parts.start('lease', () =>
    holdLease(sessions, log, `askback ${program.version}`),
  );

  const common = { db, log, settings: config };
  const deliveries = await parts.start('deliveries', () =>
    createDeliveryWorker({ ...common, outbound, secrets, claimer: lease.id }),
  );
  const mailJobs = createMailJobs({ ...common, mailer, progress });
  const analysts = {
    analyst: chooseAnalyst(config, reader),
    analystQueue: createAnalystQueue({ db }),
  };
  const comments = createCommentReader({
    ...common,
    ...analysts,
    redact: reader.redact,
    claimer: lease.id,
  });
  const sweep = () => {
    for (const it of [deliveries, comments]) it.sweep().catch(() => {}); // the next look repeats it
  };
  const own = { appMailer, secrets, publicUrl, erasureFile };
  const tools = { ...common, ...analysts, ...own, ...reader, outbound, deliveries, mailJobs };
  lease.freed.subscribe(sweep);
  await parts.start('sweeps', () => startSweeps({ log, database, leaseId: lease.id, sweep }));
  const jobs = await parts.start(
    'jobs',
    () =>
      startJobs({
        ...sessions,
        log,
        crontab,
        timing,
        lease,
        tasks: tasks(tools),
        concurrency: jobsAtOnce,
      }),
    (it) => stopJobs(it, comments),
  );
  // Before the jobs: a subscriber's ten seconds pass while these finish, not after them.
  await parts.start(
    'claims of deliveries',
    () => deliveries,
    (it) => it.takeNoMore(),
  );
  await parts.start('mails', () => mailer);
  return { jobs, deliveries };
}

type SweepTools = Pick<Work, 'log' | 'database'> & { leaseId: () => string; sweep: () => void };

/** Looks for deliveries and comments that no job announces: by one statement, which is nearly all that is asked while nothing happens. */
async function startSweeps({ log, database: { db, sessions }, leaseId, sweep }: SweepTools) {
  const listening = await sessions.db.listen(deliveriesChannel, sweep).catch((err: unknown) => {
    log.warn({ err }, 'deliveries of other processes are found by looking: no notifications');
  });
  let looking = false;
  async function look() {
    if (looking) return;
    looking = true;
    try {
      if (await hasLeftWork(db, leaseId())) sweep();
    } catch (err) {
      log.debug({ err }, 'cannot look for work, trying on');
    } finally {
      looking = false;
    }
  }
  const timer = setInterval(look, sweepEveryMs);
  void look();
  return {
    async stop() {
      clearInterval(timer);
      await listening?.unlisten().catch(() => {});
    },
  };
}

async function hasLeftWork(sql: Sql, by: string): Promise<boolean> {
  const found = await sql`select where ${hasWebhookDue(sql, by)} or ${hasWaiting(sql, by)}`;
  return found.length > 0;
}

/** Both at once: jobs that wait for the analyst go back to the queue once no more are fetched. */
async function stopJobs(jobs: Jobs, comments: CommentReader) {
  const stopped = jobs.stop();
  await Promise.all([stopped, comments.stop()]);
}

async function startMailers({ config, parts, database, publicUrl }: Omit<Work, 'log'>) {
  const { transport, concurrency, server } = await startTransport({ config, parts, database });
  const { bounceDomain, mailFrom } = config;
  const dkim = signer(config);
  return {
    mailer: createMailer({ transport, concurrency, server, publicUrl, dkim, bounceDomain }),
    appMailer: createAppMailer({ transport, dkim, mailFrom, publicUrl }),
  };
}

async function startTransport({
  config,
  parts,
  database,
}: Pick<Work, 'config' | 'parts' | 'database'>) {
  if (!config.smtpUrl) {
    const transport: MailTransport = createMailbox(database.db);
    return { transport, concurrency: mailboxConcurrency, server: null };
  }
  const { settings } = readSmtpUrl(config.smtpUrl);
  const transport: MailTransport = await parts.start(
    'smtp',
    () => createSmtpPool(settings),
    (it) => it.close(),
  );
  const { connections: concurrency, host, port } = settings;
  return { transport, concurrency, server: { host, port } };
}

function signer({ dkim }: Config) {
  if (!dkim) return null;
  const made = createDkimSigner(dkim);
  if (typeof made === 'string') throw new Refusal('invalid', `ASKBACK_DKIM_KEY: ${made}`);
  return made;
}
