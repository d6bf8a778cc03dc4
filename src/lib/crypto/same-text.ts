import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether two secrets are the same; takes the same time whatever was given, also for another length. */
export const isSameText = (given: string, secret: string): boolean =>
  timingSafeEqual(digest(given), digest(secret));

const digest = (text: string) => createHash('sha256').update(text).digest();
