import { touching, work } from '../make/step-table.ts';

/** A process that works on a step until it is killed, or its parent is gone. */
process.once('disconnect', () => process.exit());
const worker = work(process.argv[2]!, [touching], `process ${process.pid}`);
process.send!('works');
await worker.ended;
