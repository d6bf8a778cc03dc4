import { connect } from '../../src/lib/db/db.ts';
import { chosenBy, endWith } from '../support/only-words.ts';
import { answers } from './answers.ts';
import { app } from './app.tsx';
import { benchServer } from './database.ts';
import { mediansOf } from './medians.ts';
import { reads } from './reads.ts';
import { keep, machine, type Section } from './report.ts';
import { units } from './units.ts';

/**
 * Compares the service with its floors. Arguments select parts, `--times=5` repeats them for medians, and `--keep`
 * saves the results.
 */
const parts: Readonly<Record<string, (server: string) => Promise<Section[]>>> = {
  units,
  reads,
  answers,
  app,
};

const keeps = process.argv.includes('--keep');
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const times = Number(process.argv.find((word) => word.startsWith('--times='))?.slice(8) ?? 1);
if (!Number.isInteger(times) || times % 2 === 0) endWith('times= takes an odd number');
const chosen = chosenBy(words, Object.keys(parts));

const server = await benchServer();
try {
  const db = connect(server.url, { connections: 1 });
  const machineKind = await machine(db);
  await db.end();
  for (const name of chosen) {
    console.error(`== ${name}`);
    // Units run on their own servers with fsync on and off, as their titles say.
    const kind = name === 'units' ? machineKind.replace(/ with fsync \w+/, '') : machineKind;
    const rounds: Section[][] = [];
    while (rounds.length < times) rounds.push(await parts[name]!(server.url));
    const sections = mediansOf(rounds);
    for (const { title, lines } of sections) console.log(['', title, '', ...lines].join('\n'));
    if (keeps) keep({ name, kind, times, sections }, Object.keys(parts));
  }
} finally {
  await server.stop();
}
