import { hasJobsProcess } from '../jobs-process.ts';
import { cachedFor } from '../lib/async/cached-for.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { connect } from '../lib/db/db.ts';
import type { Checks } from '../lib/process/checks.ts';
import type { Lifecycle } from '../lib/process/lifecycle.ts';
import type { Jobs, RunnerState } from '../lib/queue/runner.ts';
import type { Database } from '../open-database.ts';
import type { ProcessRole } from '../settings/validators.ts';
import { databaseChecks, poolerCheck } from './health.ts';
import { countUnreadableSecrets, wrongKeySentence } from './sealed-secrets.ts';

const lookAtSecretsEveryMs = 60_000;
const patienceMs = 1000;

type ReadinessTools = {
  parts: Lifecycle;
  database: Pick<Database, 'db' | 'sessions' | 'isApart'>;
  role: ProcessRole | null;
  secrets: Secrets;
  jobs: Jobs | undefined;
};

export type Readiness = {
  checks: Checks;
  warnings: Checks;
  /** From now on the process says that it is stopping. */
  drain: () => void;
};

/** Everything that `/readyz` looks at. */
export async function startReadiness(tools: ReadinessTools): Promise<Readiness> {
  const { parts, database, secrets, jobs, role } = tools;
  const { url, servers } = database.sessions;
  // A connection of its own: a busy pool does not mean that the database is away.
  const db = await parts.start(
    'probes',
    () =>
      connect(url, {
        program: 'askback',
        connections: 1,
        ...(servers && { socket: servers.socket }),
      }),
    (it) => it.end({ timeout: 1 }),
  );
  let draining = false;
  const unreadable = cachedFor(() => countUnreadableSecrets(db, secrets), {
    everyMs: lookAtSecretsEveryMs,
    patienceMs,
  });
  return {
    checks: {
      ...databaseChecks(db),
      ...(database.isApart && { pooler: poolerCheck(database.db) }),
      ...(jobs && { runners: () => runnerDown(jobs.state()) }),
      draining: () => (draining ? 'is stopping' : undefined),
    },
    warnings: {
      secrets: async () => wrongKeySentence((await unreadable()) ?? 0),
      ...(role === 'web' && {
        jobs: async () => ((await hasJobsProcess(db)) ? undefined : noJobs),
      }),
    },
    drain: () => {
      draining = true;
    },
  };
}

const noJobs = 'no process with the role jobs runs: mails, deliveries and analyses wait for one';

const runnerDown = ({ state }: RunnerState) => (state === 'running' ? undefined : 'not running');
