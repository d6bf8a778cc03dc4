import { issueKey } from '../../src/keys/manage.ts';
import { type BenchDatabase, benchDatabase } from './database.ts';
import { type Sink, startSink } from './mail.ts';
import { type Service, startService, usageOf } from './service.ts';
import { addSurveys, type SurveyOf } from './surveys.ts';

export const contactsPerRequest = 1000;
export const requestsAtOnce = 10;
export const connections = 20;

export type SendScene = {
  sink: Sink;
  service: Service;
  database: BenchDatabase;
  /** Sends a new survey to a thousand people through the API and waits for the answer. */
  ask: () => Promise<void>;
  /** Sends ten such requests at once. */
  askMany: () => Promise<void>;
};

/** The service with a mail server on this machine, and a survey for each of these requests. */
export async function withSendScene<Result>(
  server: string,
  { requests }: { requests: number },
  measure: (scene: SendScene) => Promise<Result>,
): Promise<Result> {
  const sink = await startSink();
  const database = await benchDatabase(server);
  const smtp = `${sink.url}?tls=none&connections=${connections}`;
  const service = await startService(database.url, { ASKBACK_SMTP_URL: smtp });
  try {
    const surveys = await addSurveys(database.db, { surveys: requests, webhooks: false });
    const ask = async () => await sendAll(database, service.port, surveys.pop()!);
    const askMany = async () => {
      await Promise.all(Array.from({ length: requestsAtOnce }, ask));
    };
    return await measure({ sink, service, database, ask, askMany });
  } finally {
    await service.stop();
    await database.drop();
    await sink.worker.terminate();
  }
}

const contacts = Array.from({ length: contactsPerRequest }, (_, n) => ({
  email: `person${n}@people.example`,
  name: `Person ${n}`,
}));

async function sendAll({ db }: BenchDatabase, port: number, { orgId, id }: SurveyOf) {
  const { key } = await issueKey(db, orgId, { name: 'bench', permission: 'write' });
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/surveys/${id}/send`, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ contacts }),
  });
  const { data } = (await answer.json()) as { data?: { sent: number } };
  if (data?.sent !== contactsPerRequest) throw new Error(`a send sent ${data?.sent} mails`);
}

/** CPU time of the server processes of this database so far, if they run on this machine. */
export async function postgresCpuMs({ db }: BenchDatabase): Promise<number> {
  const processes = await db<{ pid: number }[]>`
    select pid from pg_stat_activity where datname = current_database()`;
  return processes.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0);
}

function cpuMsOf(pid: number): number {
  try {
    return usageOf(pid).cpuMs();
  } catch {
    return Number.NaN;
  }
}
