import { watchProcess } from '../../../src/lib/metrics/process.ts';

/** Prints the metrics of a process without file access. Needs Node's permission model. */
const families = watchProcess();
process.permission.drop('fs.read');
for (const { name, samples } of await families()) {
  if (name.startsWith('process_')) console.log(name, samples[0]?.value);
}
