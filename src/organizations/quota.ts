import { Refusal } from '../errors.ts';
import { addUsage, lockUsage, type SendSettings } from './usage.queries.ts';

/** Holds the organization's month until the transaction ends: sends of one organization take turns here. */
export const holdMonth = lockUsage;

/** Refuses a send of more mails than the month has left. */
export function refuseOverLimit({ used, monthly_send_limit }: SendSettings, requested: number) {
  if (requested === 0 || used + requested <= monthly_send_limit) return;
  throw new Refusal(
    'forbidden',
    `the monthly send limit of ${monthly_send_limit} would be exceeded, nothing was sent`,
    {
      code: 'SEND_LIMIT_EXCEEDED',
      details: { current_limit: monthly_send_limit, used, requested },
    },
  );
}

export const takeQuota = addUsage;
