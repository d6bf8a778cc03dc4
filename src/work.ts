import program from '../package.json' with { type: 'json' };
import { createAppMailer } from './app-mailer.ts';
import { pauseRefusedCampaign } from './campaigns/campaign.ts';
import { Refusal } from './errors.ts';
import { maxConcurrentJobs } from './jobs.ts';
import { createOutage, type Log } from './lib/log/log.ts';
import { createOutbound } from './lib/outbound/post.ts';
import type { Lifecycle } from './lib/process/lifecycle.ts';
import { holdLease } from './lib/queue/lease.ts';
import { startJobs } from './lib/queue/runner.ts';
import { createDkimSigner } from './lib/smtp/dkim.ts';
import { readSmtpUrl } from './lib/smtp/settings.ts';
import { createSmtpPool, type MailTransport } from './lib/smtp/smtp.ts';
import { createMailbox } from './mailbox/mailbox.ts';
import type { Database } from './open-database.ts';
import { fileErasures, openErasureFile } from './people/receipts-file.ts';
import { createRedactionWorker } from './redaction-worker.ts';
import { resealSecrets } from './reseal.ts';
import { hasWaiting } from './responses/waiting-analyses.ts';
import { createMailer, createMailJobs } from './sends/mail-job.ts';
import { createSendProgress } from './sends/send.ts';
import { type Config, configuredSecrets } from './settings.ts';
import { chooseAnalyst } from './summaries/analyst.ts';
import { createAnalystQueue, createCommentReader } from './summaries/comment-reader.ts';
import { crontab, tasks } from './tasks.ts';
import { hasWebhookDue } from './webhooks/delivery.queries.ts';
import type { OwnDeliveries } from './webhooks/emit.ts';
import { createDeliveryWorker } from './webhooks/worker.ts';

const connectionsPerHost = 128;
const mailboxConcurrency = 20;
const loopback = ['127.0.0.0/8', '::1/128'];
const mailOutage = {
  begins: 'the mail server is unavailable, retrying',
  over: 'the mail server is available again',
};
/** Notifications take a database-wide lock at commit, so all deliveries within this time share one notification. */
const notifyEveryMs = 50;
/** Notified by processes without jobs when they commit deliveries. */
const deliveriesChannel = 'askback_deliveries';
/** Work of dead processes must continue within a second. */
const sweepEveryMs = 900;
/** The whole shutdown, including requests, takes less than 30 seconds. */
const timing = { stopWithinMs: 13_000 };

type Work = {
  config: Config;
  log: Log;
  parts: Lifecycle;
  database: Database;
  publicUrl: string;
  /** Only this machine can reach the service, so webhooks may call this machine too. */
  isLocal: boolean;
};

type Shared = Awaited<ReturnType<typeof startShared>>;

/** Starts background work, or only the parts that requests need if other processes run the jobs. */
export async function startWork(work: Work & { say: (sentence: string) => void }) {
  const shared = await startShared(work);
  const { config } = work;
  const started = config.role === 'web' ? notifyJobs(work) : await startJobWork(work, shared);
  const { reader, ...others } = shared;
  return {
    ...started,
    ...others,
    excerpt: reader.excerpt,
    readReport: reader.report,
    checkTarget: shared.outbound.check,
    mailbox: !config.smtpUrl,
  };
}

async function startShared(work: Work & { say: (sentence: string) => void }) {
  const { config, log, parts, database, isLocal, say } = work;
  const { db, sessions } = database;
  const secrets = configuredSecrets(config, database.dataDir);
  const { allow } = config.webhooks;
  const targets = isLocal ? { allow: [...allow, ...loopback], http: true } : config.webhooks;
  const outbound = await parts.start('outbound', () =>
    createOutbound({ ...targets, perHostConnections: connectionsPerHost }),
  );
  const [progress] = await Promise.all([
    parts.start('send progress', () => createSendProgress({ db, log, listenOn: sessions.db })),
    parts.start('secrets', () => resealSecrets({ db, log, secrets })),
  ]);
  const reader = await parts.start('text reader', () => createRedactionWorker(log));
  const erasureFile = await parts.start('file of erasures', () =>
    openErasureFile(config, database.dataDir, (sentence) => log.warn(sentence)),
  );
  if (config.erasuresFile && erasureFile.problem)
    say(`warning: ASKBACK_ERASURES_FILE: ${erasureFile.problem}`);
  await fileErasures({ db, erasureFile });
  return { secrets, outbound, progress, reader, erasureFile };
}

/** Lets a process without jobs notify the processes with jobs, which claim its deliveries. */
function notifyJobs({ log, database: { sessions } }: Work) {
  let isWaiting = false;
  const notify = () => {
    isWaiting = false;
    sessions.db
      .notify(deliveriesChannel, '')
      .catch((err) => log.debug({ err }, 'cannot notify about deliveries, a sweep will find them'));
  };
  const deliveries: OwnDeliveries = {
    owner: () => null,
    start({ events }) {
      if (events.length === 0 || isWaiting) return;
      isWaiting = true;
      setTimeout(notify, notifyEveryMs).unref();
    },
  };
  return { jobs: undefined, deliveries, mailProblem: undefined };
}

async function startJobWork(work: Work, shared: Shared) {
  const { config, log, parts, database } = work;
  const { secrets, outbound, progress, reader, erasureFile } = shared;
  const { db, sessions } = database;
  const { mailer, appMailer, mailProblem } = await startMailers(work);
  const lease = await parts.start('lease', () =>
    holdLease(sessions, log, `askback ${program.version}`),
  );

  const common = { db, log, settings: config };
  const deliveries = await parts.start('deliveries', () =>
    createDeliveryWorker({ ...common, outbound, secrets, claimer: lease.id }),
  );
  const mailJobs = createMailJobs({
    ...common,
    mailer,
    progress,
    pauseCampaign: (orgId, batch) => pauseRefusedCampaign({ ...common, orgId }, batch),
  });
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
    for (const it of [deliveries, comments]) it.sweep().catch(() => {}); // repeated by the next sweep
  };
  lease.freed.subscribe(sweep);
  await parts.start('sweeps', () => startSweeps(work, lease.id, sweep));
  const own = { appMailer, secrets, publicUrl: work.publicUrl, erasureFile };
  const tools = {
    ...common,
    ...analysts,
    ...own,
    ...reader,
    outbound,
    deliveries,
    mailer,
    mailJobs,
    progress,
  };
  const jobs = await parts.start(
    'jobs',
    () =>
      startJobs({
        ...sessions,
        lease,
        log,
        crontab,
        timing,
        tasks: tasks(tools),
        concurrency: maxConcurrentJobs,
      }),
    // Both stop together, so that jobs that wait for the analyst return to the queue.
    (it) => Promise.all([it.stop(), comments.stop()]),
  );
  // Stops before the jobs, so that the ten seconds of webhooks pass while the jobs finish.
  await parts.start(
    'claims of deliveries',
    () => deliveries,
    (it) => it.stopClaiming(),
  );
  await parts.start('mails', () => mailer);
  return { jobs, deliveries, mailProblem };
}

/** Polls for deliveries and comments without a job, in one statement. */
async function startSweeps({ log, database }: Work, leaseId: () => string, sweep: () => void) {
  const { db, sessions } = database;
  const listening = await sessions.db.listen(deliveriesChannel, sweep).catch((err: unknown) => {
    log.warn({ err }, 'no notifications, polling for deliveries of other processes');
  });
  let isPolling = false;
  async function poll() {
    if (isPolling) return;
    isPolling = true;
    try {
      const by = leaseId();
      const rows = await db`select where ${hasWebhookDue(db, by)} or ${hasWaiting(db, by)}`;
      if (rows.length > 0) sweep();
    } catch (err) {
      log.debug({ err }, 'cannot poll for work, retrying');
    } finally {
      isPolling = false;
    }
  }
  const timer = setInterval(poll, sweepEveryMs);
  void poll();
  return {
    async stop() {
      clearInterval(timer);
      await listening?.unlisten().catch(() => {});
    },
  };
}

async function startMailers({ config, log, parts, database, publicUrl }: Work) {
  const { bounceDomain, mailFrom, smtpUrl } = config;
  const dkim = config.dkim && createDkimSigner(config.dkim);
  if (typeof dkim === 'string') throw new Refusal('invalid', `ASKBACK_DKIM_KEY: ${dkim}`);
  const smtp = smtpUrl ? readSmtpUrl(smtpUrl).settings : null;
  const outage = createOutage(log, mailOutage);
  const pool =
    smtp &&
    (await parts.start('smtp', () =>
      createSmtpPool(smtp, {
        onProblem: (reason) =>
          reason ? outage.failed(smtp, { why: reason }) : outage.worked(smtp),
      }),
    ));
  const transport: MailTransport = pool ?? createMailbox(database.db);
  const concurrency = smtp?.connections ?? mailboxConcurrency;
  return {
    mailer: createMailer({ transport, concurrency, publicUrl, dkim, bounceDomain }),
    appMailer: createAppMailer({ transport, dkim, mailFrom, publicUrl }),
    mailProblem: pool?.problem,
  };
}
