import { createHash } from 'node:crypto';
import { listAssets, readAsset } from '../process/assets.ts';

const folder = 'sql/steps/';

/**
 * What a migration leaves to be done over filled tables while the service serves. Its file is named after the
 * migration that leaves it, and its first line says what it is:
 *
 * - `-- batches of WORDS`: after `-- next batch` a statement that works on the rows after the key `$1::text::jsonb`, at
 *   most `$2::integer` of them, and returns `last_key` (jsonb, null when there are none) and `rows`; after `-- estimate`
 *   one that returns as `rows` how many there are about;
 * - `-- index concurrently`: one statement that builds an index;
 * - `-- validate constraint`: one statement that validates what was added `not valid`.
 */
export type MigrationStep = { name: string; sha256: string; unit: string } & (
  | { kind: 'batches'; batch: string; estimate: string }
  | { kind: 'index'; index: string; statement: string }
  | { kind: 'constraint'; statement: string }
);

export function readSteps(): MigrationStep[] {
  return listAssets(folder).map((asset) =>
    parseStep(asset.slice(folder.length).replace(/\.sql$/, ''), readAsset(asset)),
  );
}

const batchesForm =
  /^-- batches of (?<unit>[a-z ]+)\n[\s\S]*?^-- next batch\n(?<batch>[\s\S]*?);\s*^-- estimate\n(?<estimate>[\s\S]*?);\s*$/m;
const indexForm =
  /^-- index concurrently\n(?:--.*\n)*(?<statement>create (?:unique )?index concurrently (?<index>\w+) on [^;]*);\s*$/;
const constraintForm =
  /^-- validate constraint\n(?:--.*\n)*(?<statement>alter table \w+ validate constraint \w+);\s*$/;

export function parseStep(name: string, text: string): MigrationStep {
  const common = { name, sha256: createHash('sha256').update(text).digest('hex') };
  const batches = batchesForm.exec(text)?.groups;
  if (batches) {
    const { unit, batch, estimate } = batches;
    return { ...common, kind: 'batches', unit: unit!, batch: batch!, estimate: estimate! };
  }
  const index = indexForm.exec(text)?.groups;
  if (index) {
    return {
      ...common,
      kind: 'index',
      unit: 'indexes',
      index: index['index']!,
      statement: index['statement']!,
    };
  }
  const constraint = constraintForm.exec(text)?.groups;
  if (constraint) {
    return {
      ...common,
      kind: 'constraint',
      unit: 'constraints',
      statement: constraint['statement']!,
    };
  }
  throw new Error(`${folder}${name}.sql has none of the forms of a step`);
}

/** The steps that these migrations leave: both names begin with the same number. */
export function stepsOf(
  steps: readonly MigrationStep[],
  migrations: readonly { name: string }[],
): MigrationStep[] {
  const numbers = new Set(migrations.map(({ name }) => numberOf(name)));
  return steps.filter(({ name }) => numbers.has(numberOf(name)));
}

const numberOf = (name: string) => name.split('_')[0];
