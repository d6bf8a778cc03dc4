import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log/log.ts';
import type { QueueAddress } from './connections.ts';
import { openSession, type Session } from './session.ts';

const tryAgainMs = 250;
/** Short, because each row that is claimed carries the name. */
const idBytes = 6;

export type LivenessLease = {
  /** In whose name this process claims work. What has this name is free again when it has died. */
  id: () => string;
  stop: () => Promise<void>;
};

/**
 * A name that lives as long as this process can reach Postgres, for work that no job holds. When its
 * connection breaks the name dies, with all that was taken in it, and there is a new one.
 */
export async function holdLease(
  address: QueueAddress,
  log: Log,
  program: string,
): Promise<LivenessLease> {
  const begin = () => beginLease(address, log, program);
  let stopping = false;
  let current = await begin();

  const living = (async () => {
    while (!stopping) {
      await current.session.lost;
      while (!stopping) {
        const next = await begin().catch(() => undefined);
        if (next) current = next;
        if (next) break;
        await sleep(tryAgainMs);
      }
    }
  })();

  return {
    id: () => current.id,
    async stop() {
      stopping = true;
      await current.session.free(current.id);
      await living;
    },
  };
}

async function beginLease(
  address: QueueAddress,
  log: Log,
  program: string,
): Promise<{ id: string; session: Session }> {
  const session = await openSession(address, log, program);
  const id = `lease-${randomBytes(idBytes).toString('base64url')}`;
  await session.register(id).catch(async (error) => {
    await session.end();
    throw error;
  });
  return { id, session };
}
