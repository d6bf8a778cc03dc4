import { connect } from '../../src/platform/db.ts';
import { listen } from '../../src/platform/listen.ts';
import { bareApp } from '../support/app.ts';
import { serviceConnections } from './database.ts';

/** The web half of the service alone, in a process of its own: no jobs run beside it. */
process.once('message', async ({ url }: { url: string }) => {
  const db = connect(url, { connections: serviceConnections });
  const door = await listen({ host: '127.0.0.1', port: 0 });
  door.open(bareApp(db).fetch);
  process.send?.(door.port);
});
