const form =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?)? ?(z|utc|gmt|[+-]\d\d:?\d\d)?$/i;
const dayMs = 86_400_000;

/**
 * A time as exports write it: seconds since 1970, or a day with or without a time of day and an offset. Without an
 * offset it is of the given zone. Undefined for anything else, and for the future: no response is from there.
 */
export function readFileTime(
  text: string,
  { zone, now }: { zone: string; now: number },
): Date | undefined {
  const time = /^\d{9,10}$/.test(text) ? Number(text) * 1000 : readCalendar(text, zone);
  return time === undefined || time > now + dayMs ? undefined : new Date(time);
}

function readCalendar(text: string, zone: string): number | undefined {
  const parts = form.exec(text);
  if (!parts) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', offset] = parts;
  try {
    const local = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
    const time = Temporal.PlainDateTime.from(local, { overflow: 'reject' });
    return time.toZonedDateTime(offset ? zoneOf(offset) : zone).epochMilliseconds;
  } catch {
    return undefined;
  }
}

const zoneOf = (offset: string) =>
  /^[a-z]/i.test(offset) ? 'UTC' : `${offset.slice(0, 3)}:${offset.slice(-2)}`;
