import program from '../package.json' with { type: 'json' };
import { createAppMailer } from './app-mailer.ts';
import { Refusal } from './errors.ts';
import { runnerGroups } from './jobs.ts';
import type { Secrets } from './lib/crypto/secrets.ts';
import type { Log } from './lib/log/log.ts';
import type { Outbound } from './lib/outbound/post.ts';
import type { Lifecycle } from './lib/process/lifecycle.ts';
import { holdLease } from './lib/queue/liveness-lease.ts';
import { type Jobs, startJobs } from './lib/queue/start.ts';
import { createDkimSigner } from './lib/smtp/dkim.ts';
import { readSmtpUrl } from './lib/smtp/settings.ts';
import { createSmtpPool, type MailTransport } from './lib/smtp/smtp.ts';
import { createMailbox } from './mailbox/mailbox.ts';
import type { Database } from './open-database.ts';
import type { ErasureFile } from './people/erasure/file.ts';
import { hasWaiting } from './responses/waiting-analyses.queries.ts';
import { createClaimedMails, createMailJobs } from './sends/mail-job.ts';
import { createMailer } from './sends/mailer.ts';
import type { SendProgress } from './sends/send.ts';
import type { Config } from './settings/config.ts';
import { createAnalystQueue } from './summaries/analyst-queue.ts';
import { chooseAnalyst } from './summaries/choose-analyst.ts';
import { type CommentReader, createCommentReader } from './summaries/comment-reader.ts';
import { crontab, tasks } from './tasks.ts';
import type { TextReader } from './text-reader.ts';
import { hasWebhookDue } from './webhooks/delivery.queries.ts';
import { createDeliveryWorker } from './webhooks/worker.ts';

const mailboxConcurrency = 20;
/** Requests end before it and the rest after it: together they take less than the 30 seconds promised. */
const timing = { stopWithinMs: 13_000 };

export type Work = {
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
  reader: TextReader;
  erasureFile: ErasureFile;
};

/** Jobs, deliveries to webhooks, mail. One line a part. */
export async function startJobWork(
  { config, log, parts, database, publicUrl }: Work,
  { secrets, outbound, progress, reader, erasureFile }: SharedWork,
) {
  const { db, sessions } = database;
  const { mailer, appMailer } = await startMailers({ config, parts, database, publicUrl });
  const lease = await parts.start(
    'lease',
    () => holdLease(sessions, log, `askback ${program.version}`),
    (it) => it.stop(),
  );

  let jobs: Jobs | undefined;
  const pump = () => jobs?.pump();
  const common = { db, log, pump, settings: config };
  const deliveries = await parts.start(
    'deliveries',
    () => createDeliveryWorker({ ...common, outbound, secrets, claimer: lease.id }),
    (it) => it.stop(),
  );
  const claimedMails = createClaimedMails();
  const mailJobs = createMailJobs({ ...common, mailer, progress, claimedMails });
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
  jobs = await parts.start(
    'jobs',
    () =>
      startJobs({
        ...sessions,
        log,
        crontab,
        timing,
        program: 'askback',
        tasks: tasks(tools),
        groups: runnerGroups,
        onFreed: sweep,
        otherWork: {
          exists: (sql) =>
            sql`(${hasWebhookDue(sql, lease.id())} or ${hasWaiting(sql, lease.id())})`,
          onFound: sweep,
        },
      }),
    (it) => stopJobs(it, comments),
  );
  // Before the jobs: a subscriber's ten seconds pass while these finish, not after them.
  await parts.start(
    'claims of deliveries',
    () => deliveries,
    (it) => it.takeNoMore(),
  );
  await parts.start(
    'mails',
    () => mailer,
    (it) => it.stop(),
  );
  return { jobs, pump, deliveries, claimedMails };
}

/** Both at once: jobs that wait for the analyst go back to the outbox once no more are fetched. */
async function stopJobs(jobs: Jobs, comments: CommentReader) {
  const stopped = jobs.stop();
  await Promise.all([stopped, comments.stop()]);
}

/** What writes and sends mails: those of surveys, and those of the service itself. */
async function startMailers({ config, parts, database, publicUrl }: Omit<Work, 'log'>) {
  const { transport, concurrency, server } = await startTransport({ config, parts, database });
  const { bounceDomain, mailFrom } = config;
  const dkim = signer(config);
  return {
    mailer: createMailer({ transport, concurrency, server, publicUrl, dkim, bounceDomain }),
    appMailer: createAppMailer({ transport, dkim, mailFrom, publicUrl }),
  };
}

/** The configured mail server, or the mailbox when there is none. */
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
