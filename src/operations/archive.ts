import { existsSync } from 'node:fs';
import * as v from 'valibot';
import { commandActor } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { backup } from '../lib/backup/backup.ts';
import type { Archive } from '../lib/backup/format.ts';
import { restore } from '../lib/backup/restore.ts';
import { type Command, command } from '../lib/cli/command.ts';
import { flag, option } from '../lib/cli/options.ts';
import { placeSecretKey, readSecretKey } from '../lib/crypto/secret-key.ts';
import type { Sql } from '../lib/db/db.ts';
import { refuseUnfitPostgres } from '../lib/db/migrate.ts';
import { openDatabase } from '../open-database.ts';
import { giveUpAfterRestore } from '../sends/record.ts';
import { hasOrganizations } from './queries.ts';

/** What backups of this service are, and what they leave out. */
export const archive: Archive = {
  program: 'askback',
  // A session that has ended must not come back with an old backup.
  except: [
    ...['schema_migrations', 'rate_windows', 'worker_pools', 'service_record'],
    ...['sessions', 'proof_attempts'],
  ],
  isFilled: hasOrganizations,
};

const file = option(
  v.pipe(
    v.string(),
    v.check(
      (path) => path !== '-',
      'must be the name of a file: a backup is not written to a pipe',
    ),
  ),
  'FILE',
  'the file of the backup',
);

const backupCommand = command({
  name: 'backup',
  does: 'writes all that the deployment keeps into one file, while it serves or not',
  options: { file, force: flag('overwrite a file that exists') },
  operands: ['file'],
  run: (tools: CommandTools, given) =>
    inDatabase(tools, async (db, config) => {
      if (existsSync(given.file) && !given.force) {
        throw new Refusal('conflict', `${given.file} exists: give another name, or --force`);
      }
      const secretKey = config.secretKey ? null : (readSecretKey(config.dataDir) ?? null);
      const { rows } = await backup(db, { archive, file: given.file, secretKey });
      const key = secretKey
        ? 'The secret key is in it: keep it where only you can read it.'
        : 'The secret key is not in it: keep ASKBACK_SECRET_KEY too, or webhook secrets are lost.';
      return {
        data: { file: given.file, rows },
        text: `wrote ${rows} rows to ${given.file}. ${key}`,
      };
    }),
});

const restoreCommand = command({
  name: 'restore',
  does: 'fills an empty deployment from a backup',
  options: { file },
  operands: ['file'],
  async run(tools: CommandTools, given) {
    const config = tools.config();
    const database = await openDatabase(config, { ...tools, connections: 3 });
    const { db, dataDir, close } = database;
    try {
      await refuseUnfitPostgres(db);
      const keepKey = (key: Buffer) => {
        if (!config.secretKey) placeSecretKey(dataDir, key);
      };
      const { rows, created_at } = await restore(db, given.file, {
        archive,
        keepKey,
        afterwards: [giveUpAfterRestore, recordRestore],
      });
      const data = { rows, created_at };
      return { data, text: `restored ${rows} rows of the backup made at ${created_at}` };
    } finally {
      await close();
    }
  },
});

export const archiveCommands: readonly Command<CommandTools>[] = [backupCommand, restoreCommand];

const recordRestore = (tx: Sql) =>
  recordAct(tx, { orgId: null, actor: commandActor(), act: 'deployment.restored' });
