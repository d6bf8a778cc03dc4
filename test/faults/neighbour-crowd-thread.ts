import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { connect } from '../../src/lib/db/db.ts';
import { type CrowdPlace, noneWrong } from './neighbour-crowd.ts';
import { crowds } from './neighbour-crowds.ts';
import { partyOf } from './neighbour-party.ts';

/** Prepares the crowd, starts it on the first message, and stops it on the next. */
const { shared, databaseUrl, address, many, subscriber } = workerData as CrowdPlace;
const port = parentPort!;
const crowd = crowds.find((each) => each.shared === shared)!;
const db = connect(databaseUrl, { connections: 2 });
const scene = {
  db,
  address,
  many: partyOf(many, { db, address }),
  urlOf: (path: string) => subscriber + path,
};

await crowd.prepare?.(scene);
port.postMessage('prepared');
await once(port, 'message');
const gone = new AbortController();
const leave = await crowd.start(scene, gone.signal);
port.postMessage('begun');
await once(port, 'message');
const wrong = noneWrong();
gone.abort();
await leave?.(wrong);
port.postMessage(wrong);
