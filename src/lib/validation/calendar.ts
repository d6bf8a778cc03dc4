const dayForm = /^\d{4}-\d\d-\d\d/;
const dayMs = 24 * 60 * 60 * 1000;
const firstMs = Date.parse('0001-01-01T00:00:00Z') + dayMs;
const lastMs = Date.parse('9999-12-31T00:00:00Z') - dayMs;

/**
 * Whether an ISO 8601 day, or time with its zone, exists: the 30th of February is not the 2nd of March. Postgres knows no
 * year 0, and `Date` writes none of five digits that it could read; a day more or less stays within, too.
 */
export function isInCalendar(text: string): boolean {
  const day = dayForm.exec(text)?.[0];
  const ms = Date.parse(text);
  if (day === undefined || !(ms >= firstMs && ms <= lastMs)) return false;
  return new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) ?? false;
}
