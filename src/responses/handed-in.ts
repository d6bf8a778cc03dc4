import { listErased } from '../contacts/erased.queries.ts';
import type { Sql } from '../lib/db/db.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { isLongerThan, longestName } from '../limits.ts';

const mostProperties = 20;
const longestValue = 500;

/**
 * The properties that a website hands in with the survey it shows: a few plain values by name. They come through the
 * reader's browser, so that anyone can change them; what is no plain value is left out.
 */
export function readHandedIn(given: unknown): Record<string, string | number | boolean> | null {
  const values = typeof given === 'string' ? parsed(given) : given;
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return null;
  const plain = Object.entries(values).filter((entry): entry is [string, Plain] => isPlain(entry));
  if (plain.length === 0) return null;
  return Object.fromEntries(plain.slice(0, mostProperties));
}

/** Those properties that name no address of a person who was erased. Only what has an address is looked up. */
export async function withoutErased(
  sql: Sql,
  { org_id: orgId }: { org_id: string },
  { properties: given }: { properties: HandedIn },
) {
  const named = Object.entries(given ?? {}).map((entry) => ({ entry, keys: addressesIn(entry) }));
  const keys = named.flatMap((each) => each.keys);
  if (keys.length === 0) return given;
  const erased = await listErased(sql, orgId, keys);
  const kept = named.filter((each) => !each.keys.some((key) => erased.has(key)));
  return kept.length === 0 ? null : Object.fromEntries(kept.map(({ entry }) => entry));
}

type HandedIn = Readonly<Record<string, unknown>> | null;

const addressesIn = ([name, value]: [string, unknown]) =>
  (`${name} ${value}`.match(addresses) ?? []).map(addressKey);

const addresses = /[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+/g;

type Plain = string | number | boolean;

function isPlain([name, value]: [string, unknown]): boolean {
  if (name === '' || name === '__proto__' || isLongerThan(name, longestName)) return false;
  if (!isStorable(name)) return false;
  if (typeof value === 'string') return !isLongerThan(value, longestValue) && isStorable(value);
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}

/** Postgres keeps neither a NUL nor half a surrogate pair. */
const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
