import { watchProcess } from '../../../src/lib/metrics/process.ts';

/** What a process measures of itself once it has given up its files; run with Node's permission model on. */
const families = watchProcess();
process.permission.drop('fs.read');
for (const { name, samples } of await families()) {
  if (name.startsWith('process_')) console.log(name, samples[0]?.value);
}
