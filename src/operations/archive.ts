import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { commandActor, recordAct } from '../audit/acts.ts';
import { type CommandTools, databaseCommand, inDatabase } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { type Archive, backup } from '../lib/backup/backup.ts';
import { restore } from '../lib/backup/restore.ts';
import { command, flag, option, optional, UsageError, Whole } from '../lib/cli/command.ts';
import { writeTextFile } from '../lib/cli/files.ts';
import {
  createSecrets,
  readSecretKey,
  rejectOtherKey,
  saveRestoredKey,
} from '../lib/crypto/secrets.ts';
import { explainError } from '../lib/db/await-database.ts';
import type { Sql } from '../lib/db/db.ts';
import { refuseUnfitPostgres } from '../lib/db/migrate.ts';
import { startTemporary } from '../lib/embedded-postgres/embedded.ts';
import { listAssets, readAsset } from '../lib/process/lifecycle.ts';
import { prepareQueue } from '../lib/queue/enqueue.ts';
import { openDatabase } from '../open-database.ts';
import { type ErasedAgain, eraseAgain } from '../people/erase.ts';
import { readErasures } from '../people/receipts-file.ts';
import { markRepliesUnknownAfterRestore } from '../replies/reply.ts';
import { markUnknownAfterRestore } from '../sends/queries.ts';
import { type Config, configuredSecrets } from '../settings.ts';
import { countUnreadableSecrets, wrongKeySentence } from './health.ts';
import { hasOrganizations } from './queries.ts';

export const archive: Archive = {
  program: 'askback',
  // Restoring an old backup must not revive ended sessions.
  except: [
    'schema_migrations',
    'rate_windows',
    'organization_writes',
    'worker_pools',
    'service_record',
    'sessions',
    'proof_attempts',
  ],
  isFilled: hasOrganizations,
};

const BackupFile = v.pipe(
  v.string(),
  v.check((path) => path !== '-', 'must be a file name: a backup cannot be written to a pipe'),
);

const backupCommand = databaseCommand({
  name: 'backup',
  does: 'writes all data of the deployment into one file, even while askback is running',
  options: {
    file: option(BackupFile, 'FILE', 'the file of the backup, or a folder for a new file in it'),
    force: flag('overwrite an existing file'),
    keep: optional(Whole(1, 10_000), 'N', 'with a folder: keep the N newest backups in it'),
  },
  operands: ['file'],
  async run(db, { file: target, force, keep }, { config, tools }) {
    const folder = isFolder(target) ? target : undefined;
    if (keep !== undefined && !folder) {
      throw new UsageError(`--keep needs a folder, and ${target} is not one`, backupCommand.usage);
    }
    const file = folder ? join(folder, backupName(new Date())) : target;
    if (existsSync(file) && !force) {
      throw new Refusal('conflict', `${file} exists: use another name, or --force`);
    }
    const secretKey = config.secretKey ? null : (readSecretKey(config.dataDir) ?? null);
    const { rows } = await backup(db, { archive, file, secretKey });
    await recordBackup(db, rows).catch((error: unknown) => {
      tools.say(`the backup is complete, but its time was not recorded: ${explainError(error)}`);
    });
    const old = folder && keep ? listBackupFiles(folder).slice(keep) : [];
    for (const path of old) rmSync(path);
    const key = secretKey
      ? 'It contains the secret key: store it where only you can read it.'
      : 'It does not contain the secret key: keep ASKBACK_SECRET_KEY too, or webhook secrets are lost.';
    const removed = old.length > 0 ? ` Deleted ${old.length} older backups.` : '';
    return {
      data: { file, rows, deleted: old },
      text: `wrote ${rows} rows to ${file}. ${key}${removed}`,
    };
  },
});

const isFolder = (path: string) =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Sorts by time. */
const backupName = (at: Date) =>
  `askback-${at.toISOString().slice(0, 19).replaceAll(':', '')}Z.backup`;

/** Newest first. Other files of the folder never match, so that retention cannot delete them. */
const listBackupFiles = (folder: string) =>
  readdirSync(folder)
    .filter((name) => /^askback-\d{4}-\d\d-\d\dT\d{6}Z\.backup$/.test(name))
    .sort()
    .reverse()
    .map((name) => join(folder, name));

const verifyCommand = command({
  name: 'backup verify',
  does: 'restores a backup into a temporary database, checks it, and deletes the database again',
  options: {
    file: option(BackupFile, 'FILE', 'the file of the backup, or a folder for its newest backup'),
  },
  operands: ['file'],
  async run(tools: CommandTools, { file: target }) {
    const [file] = isFolder(target) ? listBackupFiles(target) : [target];
    if (!file) throw new Refusal('invalid', `${target} has no backup`);
    const server = await startTemporary({ program: archive.program });
    try {
      const config = temporaryConfig(tools.config(), server.url);
      const { key, ...restored } = await restoreInto(config, tools, file);
      const secretKey = key ?? config.secretKey;
      const unreadable = await inDatabase({ ...tools, config: () => config }, async (db) =>
        secretKey ? await countUnreadableSecrets(db, createSecrets([secretKey])) : 0,
      );
      const wrongKey = wrongKeySentence(unreadable);
      const keyLine = wrongKey ?? (secretKey ? 'the secret key fits' : 'no secret key to check');
      return {
        data: { file, ...restored, secret_key: wrongKey ?? null },
        text: `${file} of ${restored.created_at} can be restored: ${restored.rows} rows\n${keyLine}`,
        exitCode: wrongKey ? 1 : 0,
      };
    } finally {
      await server.stop();
    }
  },
});

/** The deployment of `config` stays untouched. */
const temporaryConfig = (config: Config, url: string): Config => ({
  ...config,
  databaseUrl: url,
  sessionDatabaseUrl: null,
  readDatabaseUrl: null,
});

const restoreCommand = command({
  name: 'restore',
  does: 'restores a backup into an empty deployment, and can repeat later erasures',
  options: {
    file: optional(BackupFile, 'FILE', 'the file of the backup'),
    erasures: optional(
      v.string(),
      'FILE',
      'a file of erasures to repeat in the restored data, or in the existing data without a backup',
    ),
  },
  operands: ['file'],
  async run(tools: CommandTools, values) {
    if (values.file === undefined && values.erasures === undefined) {
      throw new UsageError('FILE or --erasures is required', restoreCommand.usage);
    }
    const receipts =
      values.erasures === undefined ? undefined : await readErasures(values.erasures);
    const restored = values.file === undefined ? undefined : await restoreFile(tools, values.file);
    const again =
      receipts &&
      (await inDatabase(tools, (db, config) =>
        eraseAgain({ db, secrets: configuredSecrets(config, config.dataDir) }, receipts),
      ));
    const lines = [
      restored && `restored ${restored.rows} rows of the backup of ${restored.created_at}`,
      again && describeErasures(again),
    ];
    return { data: { ...restored, ...again }, text: lines.filter(Boolean).join('\n') };
  },
});

async function restoreFile(tools: CommandTools, file: string) {
  const config = tools.config();
  const { key: _, ...restored } = await restoreInto(config, tools, file, config.secretKey === null);
  return restored;
}

async function restoreInto(config: Config, tools: CommandTools, file: string, keepsKey = false) {
  const { db, sessions, dataDir, close } = await openDatabase(config, { ...tools, connections: 3 });
  let key: Buffer | null = null;
  try {
    await refuseUnfitPostgres(db);
    await prepareQueue(db, sessions);
    const restored = await restore(db, file, {
      archive,
      checkKey: (key) => keepsKey && rejectOtherKey(dataDir, key),
      saveKey: (saved) => {
        key = saved;
        if (keepsKey) saveRestoredKey(dataDir, saved);
      },
      afterRestore: [markUnknownAfterRestore, markRepliesUnknownAfterRestore, recordRestore],
    });
    return { ...restored, key: key as Buffer | null };
  } finally {
    await close();
  }
}

const describeErasures = ({ receipts, erased_again, unknown_organizations }: ErasedAgain) =>
  `receipts of erasures: ${receipts}; erased again: ${erased_again}` +
  (unknown_organizations > 0 ? `; of unknown organizations: ${unknown_organizations}` : '');

export const archiveCommands = [backupCommand, verifyCommand, restoreCommand];

/** The operator page shows the time of the newest backup. A replica cannot record it. */
const recordBackup = (db: Sql, rows: number) =>
  recordAct(db, {
    orgId: null,
    actor: commandActor(),
    act: 'deployment.backed_up',
    details: { rows },
  });

const recordRestore = (tx: Sql) =>
  recordAct(tx, { orgId: null, actor: commandActor(), act: 'deployment.restored' });

const root = 'ops/';
/** Pages for developers, which link to files of the repository. */
const developerPages = ['architecture.md', 'benchmarks.md'];

export const exampleFolders = [
  'compose',
  'grafana',
  'kubernetes',
  'otel',
  'prometheus',
  'systemd',
  'webhooks',
];

/** Manual pages and examples for operators, with paths relative to `ops/`. */
export function operatorFiles(): string[] {
  const pages = listAssets(root).filter((name) => name.endsWith('.md'));
  const examples = exampleFolders.flatMap((folder) => listAssets(`${root}${folder}/`));
  return [...pages, ...examples]
    .map((name) => name.slice(root.length))
    .filter((name) => !developerPages.includes(name) && !/\/.*\//.test(name))
    .filter((name) => name.includes('/') || name.endsWith('.md'));
}

export const files = command({
  name: 'files',
  does: 'writes the manual, alert rules, the dashboard and other examples into a folder',
  options: {
    dir: option(v.string(), 'DIR', 'the folder, created if missing'),
    force: flag('overwrite existing files'),
  },
  operands: ['dir'],
  async run(_tools: CommandTools, { dir, force }) {
    const names = operatorFiles();
    const present = names.find((name) => existsSync(join(dir, name)));
    if (present && !force) {
      throw new Refusal('conflict', `${join(dir, present)} exists: use another folder, or --force`);
    }
    for (const name of names) {
      writeTextFile(join(dir, name), readAsset(`${root}${name}`));
    }
    return { data: { dir, files: names }, text: `wrote ${names.length} files to ${dir}` };
  },
});
