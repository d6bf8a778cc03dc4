import type { Mailer } from './mailing.ts';

/**
 * A mailer that can be stopped: mails on their way go on, and no other begins. Those are still claimed
 * and their job fails, so that it is run again, by whoever lives.
 */
export function untilStopped(mailer: Mailer): Mailer & { stop: () => void } {
  const stopping = new AbortController();
  const { signal } = stopping;
  return {
    ...mailer,
    async send(mail, { mayLeave, ...leaving }) {
      signal.throwIfAborted();
      const mayStillLeave = async () => {
        signal.throwIfAborted();
        return await mayLeave();
      };
      return await mailer.send(mail, { ...leaving, mayLeave: mayStillLeave });
    },
    stop: () => stopping.abort(),
  };
}
