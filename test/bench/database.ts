import { randomUUID } from 'node:crypto';
import { connect, type Db } from '../../src/lib/db/db.ts';
import { migrate } from '../../src/lib/db/migrate.ts';
import { startTemporary } from '../../src/lib/embedded-postgres/embedded.ts';
import { prepareQueue } from '../../src/lib/queue/enqueue.ts';
import { poolByProcessors } from '../../src/settings.ts';

/** Pool size of the service and of the floors. */
export const serviceConnections = poolByProcessors();

export type BenchDatabase = { url: string; db: Db; drop: () => Promise<void> };

/** The Postgres of TEST_DATABASE_URL, or a fresh embedded one. */
export async function benchServer() {
  const given = process.env['TEST_DATABASE_URL'];
  if (given) return { url: given, stop: async () => {} };
  return await startTemporary();
}

/** A migrated, empty database with as many connections as the service has. */
export async function benchDatabase(server: string): Promise<BenchDatabase> {
  const name = `bench_${randomUUID().replaceAll('-', '')}`;
  const admin = connect(server, { connections: 1 });
  await admin`create database ${admin(name)} template template0 encoding 'UTF8'`;
  const address = new URL(server);
  address.pathname = `/${name}`;
  const url = address.href;
  const db = connect(url, { connections: serviceConnections });
  await prepareQueue(db, { url });
  await migrate(db);
  return {
    url,
    db,
    async drop() {
      await db.end({ timeout: 1 });
      await admin`drop database ${admin(name)} with (force)`;
      await admin.end();
    },
  };
}
