/** Whether JavaScript knows the time zone. It also knows offsets such as `+02:00`, which to Postgres lie in the west. */
export function isTimeZone(name: string): boolean {
  // To make a format takes longer than all other checks of a request, and most requests name no zone.
  if (name === 'UTC') return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Whether it is the name of a time zone, which Postgres reads as JavaScript does. */
export const isTimeZoneName = (name: string) => /^[A-Za-z]/.test(name) && isTimeZone(name);
