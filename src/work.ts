import { deliveriesChannel, startJobWork, type Work } from './job-work.ts';
import type { Secrets } from './lib/crypto/secrets.ts';
import type { Db } from './lib/db/db.ts';
import type { Log } from './lib/log/log.ts';
import { createOutbound } from './lib/outbound/post.ts';
import { resealTotpSecrets } from './members/codes/reseal-totp.ts';
import { resealSlackHooks } from './notifications/reseal-slack.ts';
import { openErasureFile } from './people/erasure/file.ts';
import { fileErasures } from './people/erasure/file-erasures.ts';
import type { ClaimedMails } from './sends/mail-job.ts';
import { createSendProgress } from './sends/send.ts';
import { configuredSecrets } from './settings/secrets.ts';
import { createTextReader } from './text-reader.ts';
import type { OwnDeliveries } from './webhooks/emit.cte.ts';
import { resealSecrets } from './webhooks/reseal-secrets.ts';

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
    parts.start(
      'send progress',
      () => createSendProgress({ db, log, listenOn: sessions.db }),
      (it) => it.stop(),
    ),
    parts.start('secrets', () => resealAll({ db, log, secrets })),
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
  const claimedMails: Pick<ClaimedMails, 'keep' | 'discard'> = { keep() {}, discard() {} };
  return { jobs: undefined, deliveries, claimedMails };
}

/** What no process could append before is appended now. */
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

/** What the previous key sealed is sealed with the current one, so that the previous key can go. */
async function resealAll(tools: { db: Db; log: Log; secrets: Secrets }) {
  await resealSecrets(tools);
  await resealTotpSecrets(tools);
  await resealSlackHooks(tools);
}

const startReader = ({ log, parts }: Pick<Work, 'log' | 'parts'>) =>
  parts.start(
    'text reader',
    () => createTextReader(log),
    (it) => it.stop(),
  );
