import type { Config } from './config.ts';
import type { Database } from './deployment.ts';
import { Refusal } from './errors.ts';
import { holdLife } from './platform/jobs/life.ts';
import { type Jobs, startJobs } from './platform/jobs/start.ts';
import type { Log } from './platform/log.ts';
import { createDkimSigner } from './platform/mail/dkim.ts';
import { readSmtpUrl } from './platform/mail/settings.ts';
import { createSmtpPool } from './platform/mail/smtp.ts';
import { createOutbound } from './platform/outbound/post.ts';
import type { Parts } from './platform/parts.ts';
import { obtainSecretKey } from './platform/secret-key.ts';
import { createSecrets } from './platform/secrets.ts';
import { redact } from './responses/redact.ts';
import { createMailbox } from './sends/mailbox.ts';
import { createMailer, type Transport } from './sends/mailer.ts';
import { createMailing } from './sends/mailing.ts';
import { untilStopped } from './sends/until-stopped.ts';
import { createWaiting } from './sends/waiting.ts';
import { chooseAnalyst } from './summaries/choose-analyst.ts';
import { crontab, tasks } from './tasks.ts';
import { createLanes } from './webhooks/lanes.ts';
import { resealSecrets } from './webhooks/reseal.ts';

const connectionsPerHost = 128;
const mailboxConcurrency = 20;
const sweepMs = 1000;
/** With what requests may take before it, and the rest after it, less than the 30 seconds promised. */
const timing = { stopWithinMs: 13_000 };

type Work = { config: Config; log: Log; parts: Parts; database: Database; publicUrl: string };

/** Starts everything that works behind the requests: jobs, webhook lanes, mail. One line a part. */
export async function startWork({ config, log, parts, database, publicUrl }: Work) {
  const { db, url } = database;
  const secrets = secretsOf(config, database);
  await parts.start('secrets', () => resealSecrets({ db, log, secrets }));
  const { transport, concurrency, server } = await startTransport({ config, parts, database });
  const outbound = await parts.start(
    'outbound',
    () => createOutbound({ ...config.webhooks, perHostConnections: connectionsPerHost }),
    (it) => it.close(),
  );
  const waiting = await parts.start(
    'waiting',
    () => createWaiting({ db, log }),
    (it) => it.stop(),
  );
  const life = await parts.start(
    'life',
    () => holdLife(url, log),
    (it) => it.stop(),
  );

  let jobs: Jobs | undefined;
  const pump = () => jobs?.pump();
  const common = { db, log, pump, settings: config };
  const lanes = await parts.start(
    'lanes',
    () => createLanes({ ...common, outbound, secrets, claimer: life.id }),
    (it) => it.stop(),
  );
  const sweep = () => void lanes.sweep().catch(() => {});
  const { bounceDomain } = config;
  const dkim = signer(config);
  const mailer = untilStopped(
    createMailer({ transport, concurrency, server, publicUrl, dkim, bounceDomain }),
  );
  const mailing = createMailing({ db, log, mailer, waiting, settings: config });
  const analyst = chooseAnalyst(config);
  const tools = { ...common, lanes, mailing, transport, publicUrl, analyst, redact };
  jobs = await parts.start(
    'jobs',
    () => startJobs({ url, db, log, tasks: tasks(tools), crontab, timing, onFreed: sweep }),
    (it) => it.stop(),
  );
  // Before the jobs: a subscriber's ten seconds pass while these finish, not after them.
  await parts.start(
    'deliveries',
    () => lanes,
    (it) => it.takeNoMore(),
  );
  await parts.start(
    'mails',
    () => mailer,
    (it) => it.stop(),
  );
  await parts.start(
    'sweep',
    () => setInterval(sweep, sweepMs),
    (it) => clearInterval(it),
  );
  const mailbox = !config.smtpUrl;
  return { jobs, pump, outbound, judgeTarget: outbound.judge, secrets, waiting, mailbox };
}

/** Two keys while the first takes over from the second. */
function secretsOf({ secretKey, previousSecretKey }: Config, { dataDir }: Database) {
  const key = secretKey ?? obtainSecretKey(dataDir);
  return createSecrets(previousSecretKey ? [key, previousSecretKey] : [key]);
}

/** Where mails go: to the configured server, or nowhere but into the mailbox. */
async function startTransport({
  config,
  parts,
  database,
}: Pick<Work, 'config' | 'parts' | 'database'>) {
  if (!config.smtpUrl) {
    const transport: Transport = createMailbox(database.db);
    return { transport, concurrency: mailboxConcurrency, server: null };
  }
  const { settings } = readSmtpUrl(config.smtpUrl);
  const transport: Transport = await parts.start(
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
