import * as v from 'valibot';
import { notFound, unavailable } from './errors.ts';
import {
  type Command,
  type CommandAnswer,
  columns,
  command,
  type Definition,
  type Option,
  type Options,
  optional,
  UsageError,
  type Values,
} from './lib/cli/command.ts';
import { readTable } from './lib/cli/files.ts';
import type { Db, Sql } from './lib/db/db.ts';
import { migrate, refuseUnfitPostgres, schemaState } from './lib/db/migrate.ts';
import { prepareQueue } from './lib/queue/enqueue.ts';
import type { SessionAddress } from './open-database.ts';
import { openDatabase } from './open-database.ts';
import type { Config } from './settings.ts';

export type CommandTools = {
  /** Validates the environment. Commands such as `version` never call it. */
  config: () => Config;
  /** For libraries that read the environment themselves. */
  environment: Record<string, string | undefined>;
  say: (sentence: string) => void;
  print: (text: string) => void;
  stopSignal: () => Promise<string>;
};

type Context = { tools: CommandTools; config: Config; databaseUrl: string };

type DatabaseDefinition<O extends Options, Answer = CommandAnswer | undefined> = Omit<
  Definition<CommandTools, O>,
  'run'
> & { run: (db: Db, values: Values<O>, context: Context) => Promise<Answer> };

/** Declares a command that works in the database. Its option `org` is resolved to the id of an organization. */
export const databaseCommand = <const O extends Options>(definition: DatabaseDefinition<O>) => {
  const declared: Command<CommandTools> = command<CommandTools, O>({
    ...definition,
    run: (tools, values) =>
      inDatabase(tools, async (db, config, databaseUrl) => {
        const { org: name } = values as { org?: string };
        const org = name === undefined ? name : await findOrgId(db, name, declared.usage);
        return await definition.run(db, { ...values, org } as Values<O>, {
          tools,
          config,
          databaseUrl,
        });
      }),
  });
  return declared;
};

/** An organization by id or slug. Optional if there is only one. */
export const orgOption = (does: string) =>
  ({ schema: v.optional(v.string(), ''), value: 'ORG', does }) satisfies Option;

export const optionalOrgOption = (does: string) => optional(v.string(), 'ORG', does);

/** An empty name means the only organization. */
export async function findOrgId(sql: Sql, name: string, usage: string): Promise<string> {
  const rows = await sql<{ id: string }[]>`
    select id
    from organizations
    where ${name.toLowerCase()} in ('', id::text, slug)
    limit 2`;
  if (rows.length === 0) throw notFound('organization');
  if (rows.length > 1) {
    throw new UsageError('--org is required, because there are several organizations', usage);
  }
  return rows[0]!.id;
}

type ListDefinition<O extends Options, Row> = DatabaseDefinition<O, readonly Row[]> & {
  head: readonly string[];
  cells: (row: Row) => readonly unknown[];
};

export const listCommand = <const O extends Options, Row>({
  run,
  head,
  cells,
  ...definition
}: ListDefinition<O, Row>) =>
  databaseCommand<O>({
    ...definition,
    async run(db, values, context) {
      const rows = await run(db, values, context);
      return { data: rows, text: columns([head, ...rows.map(cells)]) };
    },
  });

export async function organizationOf(
  sql: Sql,
  { table, id, noun }: { table: 'api_keys' | 'webhooks'; id: string; noun: string },
) {
  const [row] = await sql<{ org_id: string }[]>`
    select org_id from ${sql(table)} where id = ${id}`;
  if (!row) throw notFound(noun);
  return row.org_id;
}

export const sheetOption = optional(v.string(), 'NAME', 'sheet of a workbook (its only one)');

/** Reads a CSV file or a workbook, and reports a guessed encoding. */
export async function readCsvFile(
  tools: CommandTools,
  { file: path, sheet }: { file: string; sheet?: string | undefined },
) {
  const file = await readTable(path, sheet);
  if (file.encoding !== 'UTF-8') tools.say(`${file.name} is read as ${file.encoding}`);
  return file;
}

const commandConnections = 2;

export async function inDatabase<T>(
  tools: CommandTools,
  work: (db: Db, config: Config, databaseUrl: string) => Promise<T>,
): Promise<T> {
  const config = tools.config();
  const { db, sessions, close } = await openDatabase(config, {
    ...tools,
    connections: commandConnections,
  });
  try {
    await refuseUnfitPostgres(db);
    await requireSchema(db, sessions);
    return await work(db, config, sessions.url);
  } finally {
    await close();
  }
}

/** Migrates an empty database. Only `migrate` and `serve` upgrade a database that contains data. */
async function requireSchema(db: Db, sessions: SessionAddress) {
  const { applied, missing, unknown } = await schemaState(db);
  if (missing.length === 0 && unknown.length === 0) return;
  if (applied > 0 && unknown.length === 0) {
    throw unavailable(
      'this database is older than this askback: run `askback migrate`, or start `askback serve`',
    );
  }
  await prepareQueue(db, sessions);
  await migrate(db);
}
