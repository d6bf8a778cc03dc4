import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from './embedded.ts';

/** A fresh Postgres for tests. `stop` removes it; unless it is durable, a crash of the machine may lose it. */
export async function startTemporary({ durable = false } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'temporary-postgres-'));
  chmodSync(home, 0o755); // the account that the server runs as under root must be able to enter
  const remove = () => rmSync(home, { recursive: true, force: true });
  try {
    const options = { durable, keepRoot: true, say: () => {} };
    const { url, stop } = await startEmbedded({
      program: 'temporary',
      dataDir: join(home, 'data'),
      ...options,
    });
    return { url, stop: () => stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}
