import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandTools } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { command } from '../lib/cli/command.ts';
import { flag } from '../lib/cli/options.ts';
import { createProgress } from '../lib/cli/progress.ts';
import type { Sql } from '../lib/db/db.ts';
import { migrate } from '../lib/db/migrate.ts';
import { listSteps, progressOf, type StepState } from '../lib/db/migrate-step-state.ts';
import { serviceLog } from '../log-fields.ts';
import { startSteps } from '../migration-steps.ts';
import { type Database, openDatabase } from '../open-database.ts';

const lookEveryMs = 200;

export const migrateCommand = command({
  name: 'migrate',
  does: 'brings the database up to date with this askback, and says what is left to be done while it serves',
  options: { steps: flag('do what is left here and now, whether or not the service runs') },
  async run(tools: CommandTools, given) {
    const database = await openDatabase(tools.config(), { ...tools, connections: 2 });
    try {
      const applied = await migrate(database.db);
      if (given.steps) await finishSteps(database);
      const steps = (await listSteps(database.db)).filter(({ ended_at }) => ended_at === null);
      return { data: { applied, steps: steps.map(shown) }, text: spoken(applied, steps) };
    } finally {
      await database.close();
    }
  },
});

function spoken(applied: readonly string[], steps: readonly StepState[]): string {
  const schema =
    applied.length === 0 ? 'the database is up to date' : `applied ${applied.join(', ')}`;
  if (steps.length === 0) return schema;
  const advice =
    'askback serve does this while it answers; askback migrate --steps does it without the service';
  return [schema, ...steps.map(progressOf), advice].join('\n');
}

const shown = ({ name, unit, rows_done, rows_estimated, failure }: StepState) => ({
  name,
  unit,
  rows_done,
  rows_estimated,
  failure,
});

/** Works on the steps, or waits for the process that does, until none is left; a failure ends the command. */
async function finishSteps({ db, sessions }: Pick<Database, 'db' | 'sessions'>) {
  const worker = await startSteps({ sessions, log: serviceLog({ level: 'silent' }) });
  let isOver = false;
  const ended = worker.ended.then(() => {
    isOver = true;
  });
  try {
    while (!isOver) {
      await show(db);
      await Promise.race([ended, sleep(lookEveryMs)]);
    }
  } finally {
    await worker.stop();
  }
}

async function show(db: Sql) {
  const current = (await listSteps(db)).find(({ ended_at }) => ended_at === null);
  if (!current) return;
  if (current.failure !== null) throw new Refusal('unavailable', progressOf(current));
  const { name, unit, rows_done, rows_estimated } = current;
  const total = Math.max(rows_done, rows_estimated ?? rows_done) + 1;
  createProgress(`${name}, ${unit}`)(rows_done, total);
}
