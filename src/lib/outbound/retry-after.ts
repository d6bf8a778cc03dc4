const seconds = /^\d{1,9}$/;
/** The three forms of a date in HTTP, of which the last one has no zone: all are in GMT. */
const date = /^[A-Z][a-z]{2,8},? .*\d\d:\d\d:\d\d( GMT| \d{4})$/;

/** How long a `Retry-After` header asks to wait: a number of seconds or a date. Null if it says neither. */
export function secondsOf(header: string | string[] | undefined, now: number): number | null {
  if (typeof header !== 'string') return null;
  const text = header.trim();
  if (seconds.test(text)) return Number(text);
  if (!date.test(text)) return null;
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(at) ? null : Math.max((at - now) / 1000, 0);
}
