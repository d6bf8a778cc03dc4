import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { createAdaptorServer } from '@hono/node-server';

type App = { fetch: Parameters<typeof createAdaptorServer>[0]['fetch'] };

/** Serves an application until the test file ends. Returns its address. */
export async function serve(app: App): Promise<string> {
  const server = createAdaptorServer({ fetch: app.fetch });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
