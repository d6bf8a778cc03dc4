import { connect } from '../../src/lib/db/db.ts';
import { startMailServer, startSubscribers } from '../faults/arrivals.ts';
import { environment, setScene } from '../faults/scene.ts';
import { createService, type Service } from '../faults/service.ts';
import { makeSurvey } from '../support/make/rows.ts';

export type DrillScene = {
  services: readonly Service[];
  /** Addresses for callers: of the services, or of a proxy in front of them. */
  addresses: readonly string[];
  client: { id: string; read: Record<string, string>; write: Record<string, string> };
  tokens: readonly string[];
  mailedSurvey: string;
  subscribers: Awaited<ReturnType<typeof startSubscribers>>;
  /** Number of mails that arrived, by recipient. */
  mails: ReadonlyMap<string, number>;
  close: () => Promise<void>;
};

type Staging = {
  databaseUrl: string;
  /** The server that takes writes, if there are several. */
  leaderUrl?: string;
  processes: number;
  answers: number;
  settings?: Readonly<Record<string, string>>;
};

/** Starts services on one database, with subscribers, a mail server, and two surveys: one to answer and one to mail. */
export async function stage(staging: Staging): Promise<DrillScene> {
  const { databaseUrl, leaderUrl = databaseUrl, processes, answers, settings } = staging;
  const subscribers = await startSubscribers();
  const mailServer = await startMailServer();
  const all = {
    ...environment(databaseUrl),
    ASKBACK_SMTP_URL: mailServer.url,
    ASKBACK_PUBLIC_URL: 'https://ask.example',
    ASKBACK_RATE_LIMIT: '1000000',
    ...settings,
  };
  const services = await Promise.all(Array.from({ length: processes }, () => createService(all)));
  const close = async () => {
    await Promise.all(services.map((service) => service.kill()));
    subscribers.stop();
    await mailServer.close();
  };
  try {
    // The first service creates the schema alone.
    for (const service of services) await service.start();
    const db = connect(leaderUrl, { connections: 1 });
    const address = services[0]!.address;
    const { client, tokens } = await setScene({ db, address, subscribers }, answers);
    const mailedSurvey = await makeSurvey(db, client.id);
    await db`update organizations set monthly_send_limit = 1000000 where id = ${client.id}`;
    await db.end({ timeout: 1 });
    const addresses = services.map((service) => service.address);
    const parts = { services, addresses, client, tokens, mailedSurvey, subscribers };
    return { ...parts, mails: mailServer.arrivals, close };
  } catch (error) {
    await close();
    throw error;
  }
}
