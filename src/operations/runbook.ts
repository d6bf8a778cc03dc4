import type { CommandTools } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { columns, didYouMean } from '../lib/cli/command.ts';
import { inReadTransaction, type Sql } from '../lib/db/db.ts';
import { readAsset } from '../lib/process/lifecycle.ts';
import { openDatabase } from '../open-database.ts';
import type { Config } from '../settings.ts';

type Section = { name: string; text: string; queries: string[] };

/** Prints the runbook section of an alert and runs its queries, so that no SQL client is needed. */
export async function checkAlert(config: Config, { say }: Pick<CommandTools, 'say'>, name: string) {
  const { text, queries } = findSection(name);
  if (queries.length === 0) return { data: { alert: name, results: [] }, text };
  const { db, close } = await openDatabase(config, { say, connections: 1 });
  try {
    const results = await inReadTransaction(db, async (tx) => {
      const rowsByQuery: { query: string; rows: Row[] }[] = [];
      for (const query of queries) rowsByQuery.push({ query, rows: await run(tx, query) });
      return rowsByQuery;
    });
    const tables = results.map(({ query, rows }) => `${query}\n\n${table(rows)}`);
    return { data: { alert: name, results }, text: [text, ...tables].join('\n\n') };
  } finally {
    await close();
  }
}

type Row = Record<string, unknown>;

const run = async (tx: Sql, query: string): Promise<Row[]> => [...(await tx.unsafe<Row[]>(query))];

function table(rows: readonly Row[]): string {
  if (rows.length === 0) return 'no rows';
  const format = (value: unknown) => (value instanceof Date ? value.toISOString() : value);
  return columns([Object.keys(rows[0]!), ...rows.map((row) => Object.values(row).map(format))]);
}

/** Parses ops/runbook.md. The queries of an alert are between Check and Fix. */
export function readRunbook(): Section[] {
  const sections = readAsset('ops/runbook.md').split(/^## /m).slice(1);
  return sections.map((text) => {
    const [, check = ''] = /\*\*Check\.\*\*([\s\S]*?)\*\*Fix\.\*\*/.exec(text) ?? [];
    const blocks = [...check.matchAll(/```sql\n([\s\S]*?)```|`(select [^`]*;)`/g)];
    const queries = blocks.flatMap(([, block, inline]) => (block ?? inline!).split(/(?<=;)\s*$/m));
    return {
      name: text.slice(0, text.indexOf('\n')),
      text: text.trimEnd(),
      queries: queries.map((query) => query.trim()).filter((query) => query !== ''),
    };
  });
}

function findSection(name: string): Section {
  const sections = readRunbook();
  const section = sections.find((each) => each.name.toLowerCase() === name.toLowerCase());
  if (section) return section;
  const suggestion = didYouMean(
    name,
    sections.map((each) => each.name),
  );
  throw new Refusal('not_found', `the runbook has no alert ${name}${suggestion}`);
}
