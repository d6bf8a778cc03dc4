import * as v from 'valibot';
import type { Sql } from '../../lib/db/db.ts';
import { getOrganization } from '../../organizations/queries.ts';
import { optionalText } from '../../web/app/read-form.ts';
import { PerHour } from '../schemas.ts';

export const SendFormFields = v.object({
  when: v.optional(v.picklist(['now', 'at'], 'must be now or at a time'), 'now'),
  send_at: optionalText(
    v.pipe(
      v.string(),
      v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/, 'must be a day and a time of day'),
    ),
  ),
  per_hour: optionalText(v.pipe(v.string(), v.toNumber('must be a number'), PerHour)),
});

type SendFields = v.InferOutput<typeof SendFormFields>;
type Wish = { send_at: Date | null; per_hour: number | null };
type ReadWish =
  | { values: Wish; errors?: undefined }
  | { values?: undefined; errors: Record<string, string> };

/** The time in the form is that of the organization's zone. */
export async function readWish(
  sql: Sql,
  orgId: string,
  { when, send_at, per_hour }: SendFields,
): Promise<ReadWish> {
  if (when === 'now') return { values: { send_at: null, per_hour } };
  if (send_at === null) return { errors: { send_at: 'Say when it should start.' } };
  const { time_zone } = await getOrganization(sql, orgId);
  const at = momentIn(time_zone, send_at);
  if (at === null) return { errors: { send_at: 'This time does not exist.' } };
  if (at.getTime() <= Date.now()) return { errors: { send_at: 'This time has passed.' } };
  return { values: { send_at: at, per_hour } };
}

function momentIn(timeZone: string, text: string): Date | null {
  try {
    const { epochMilliseconds } = Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone);
    return new Date(epochMilliseconds);
  } catch {
    return null;
  }
}
