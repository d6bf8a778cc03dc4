import { connect } from '../../src/lib/db/db.ts';
import { listen } from '../../src/lib/http/listen.ts';
import { bareApp } from '../support/probe/app.ts';
import { serviceConnections } from './database.ts';

/** Runs only the web part of the service in its own process, without jobs. */
process.once('message', async ({ url }: { url: string }) => {
  const db = connect(url, { connections: serviceConnections });
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  listener.open(bareApp(db).fetch);
  process.send?.(listener.port);
});
