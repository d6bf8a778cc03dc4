import { access, constants, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Config } from '../config.ts';
import { openDatabase, type Tools } from '../deployment.ts';
import type { Db } from '../platform/db.ts';
import { explain } from '../platform/faults.ts';
import { schemaState } from '../platform/migrate.ts';
import { readSecretKey } from '../platform/secret-key.ts';
import { findServerFacts } from './queries.ts';
import * as rules from './rules.ts';

/** Looks at everything the service stands on. What cannot be looked at is a finding too. */
export async function examine(config: Config, { say }: Pick<Tools, 'say'>) {
  const findings = [
    ...(await examineDatabase(config, say)),
    rules.judgeSecret(findSecret(config)),
    rules.judgePublicUrl(config),
  ];
  if (!config.databaseUrl) findings.push(await examineDisk(config.dataDir));
  return findings;
}

async function examineDatabase(config: Config, say: Tools['say']): Promise<rules.Finding[]> {
  try {
    const { db, close } = await openDatabase(config, { say, connections: 1 });
    return await lookInto(db).finally(close);
  } catch (error) {
    return [{ name: 'database', status: 'fail', message: explain(error) }];
  }
}

async function lookInto(db: Db): Promise<rules.Finding[]> {
  const before = new Date();
  const server = await findServerFacts(db);
  const after = new Date();
  return [
    rules.judgeServer(server),
    rules.judgeExtensions(server),
    rules.judgeSchema(await schemaState(db)),
    rules.judgeClock({ before, database: server.now, after }),
  ];
}

function findSecret(config: Config): rules.SecretState {
  if (config.secretKey) return { from: 'environment' };
  try {
    return { from: readSecretKey(config.dataDir) ? 'file' : 'to be generated' };
  } catch (error) {
    return { from: 'nowhere', why: explain(error) };
  }
}

/** A data directory that does not exist yet will be made in the nearest folder that does. */
async function examineDisk(dataDir: string): Promise<rules.Finding> {
  const path = await nearest(resolve(dataDir));
  try {
    await access(path, constants.W_OK);
    const { bavail, bsize } = await statfs(path);
    return rules.judgeDisk({ path, freeBytes: bavail * bsize });
  } catch (error) {
    return { name: 'disk', status: 'fail', message: explain(error) };
  }
}

async function nearest(path: string): Promise<string> {
  const exists = await access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
  return exists || path === dirname(path) ? path : await nearest(dirname(path));
}
