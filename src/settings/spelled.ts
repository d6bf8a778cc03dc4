/** A value as one sets it: lists with commas, and what is not set says so. */
export function spelled(value: unknown): string {
  if (value === null || value === '') return notSet;
  if (Array.isArray(value)) return value.length > 0 ? value.map(spelled).join(',') : notSet;
  return typeof value === 'object' ? pair(value as Readonly<Record<string, unknown>>) : `${value}`;
}

const notSet = '(not set)';

/** Two values that are one setting: `host:port`, `group:role`, `Name <address>`. */
function pair(parts: Readonly<Record<string, unknown>>): string {
  if ('address' in parts) return `${parts['name']} <${parts['address']}>`;
  const host = String(parts['host'] ?? '');
  if (host.includes(':')) return `[${host}]:${parts['port']}`;
  return Object.values(parts).join(':');
}
