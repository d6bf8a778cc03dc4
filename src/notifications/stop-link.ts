import * as v from 'valibot';
import { OneOf } from '../lib/cli/options.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { Uuid } from '../lib/validation/parse.ts';
import { notificationKinds } from './rules.ts';

const Stopped = v.object({
  orgId: Uuid,
  memberId: Uuid,
  kind: OneOf([...notificationKinds, 'digest'] as const),
});

/** What a link stops, for which member. */
export type StopWish = v.InferOutput<typeof Stopped>;

const place = { owner: 'notifications', id: 'stop' };

/** Sealed, so that only the service makes one: it needs no row and no sign-in. */
export const stopToken = (secrets: Pick<Secrets, 'seal'>, wish: StopWish): string =>
  secrets.seal(place, JSON.stringify(wish)).toString('base64url');

export function readStopToken(secrets: Pick<Secrets, 'open'>, token: string): StopWish | undefined {
  try {
    const opened = secrets.open(place, Buffer.from(token, 'base64url'));
    return v.parse(Stopped, JSON.parse(opened));
  } catch {
    return undefined;
  }
}
