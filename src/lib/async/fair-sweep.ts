import { createSemaphore } from './semaphore.ts';

const groupsAtOnce = 8;

/**
 * Does some work for each item that a sweep finds: for those of one group one after the other, for several groups side
 * by side, so that slow work of one group delays no other.
 *
 *     const forEach = createFairSweep((webhook: Webhook) => webhook.org_id);
 *     await forEach(await listWebhooksDue(db), wake);
 */
export function createFairSweep<Item>(groupOf: (item: Item) => string) {
  const slots = createSemaphore({ slots: groupsAtOnce, maxPerGroup: 1 });
  return async (items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> => {
    await Promise.all(items.map((item) => slots.run(groupOf(item), () => work(item))));
  };
}
