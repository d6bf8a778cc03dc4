import { Refusal } from '../errors.ts';
import { createSemaphore, TooManyWaiting } from '../lib/async/semaphore.ts';

/**
 * A list is in memory while it is read: several times its size, which is some hundred megabytes for the largest. So
 * many are read or imported at once in a process, two of them of one organization at most.
 */
const slots = createSemaphore({ slots: 4, reserve: 2, maxWaitingPerGroup: 8 });
const retryInSeconds = 10;

/** Reads or imports a list when it is the organization's turn. The body of a request that waits is not read yet. */
export async function inUploadTurn<T>(orgId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await slots.run(orgId, work);
  } catch (error) {
    if (!(error instanceof TooManyWaiting)) throw error;
    throw new Refusal(
      'rate_limited',
      'Many lists of your organization are being read already. Upload this one when they are done.',
      { code: 'too_many_uploads', retryInSeconds },
    );
  }
}
