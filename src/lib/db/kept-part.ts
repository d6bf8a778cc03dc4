import type { Sql } from './db.ts';
import { Statement } from './statement.ts';

/**
 * The same part, for many statements: what it adds to one is remembered with it. It is never a statement by itself,
 * which would be sent once.
 */
export function kept<P extends object>(part: P): P {
  if (part instanceof Statement) part.walk ??= null;
  return part;
}

/**
 * Parts that depend on nothing but one value. They are made once for a value that is a kept part, as where a statement
 * finds it out for itself.
 */
export function keptFor<Value extends string | object, Parts extends Record<string, object>>(
  make: (sql: Sql, value: Value) => Parts,
) {
  const known = new WeakMap<object, Parts>();
  return (sql: Sql, value: Value): Parts => {
    if (!(value instanceof Statement) || value.walk === undefined) return make(sql, value);
    const found = known.get(value);
    if (found) return found;
    const parts = make(sql, value);
    for (const part of Object.values(parts)) kept(part);
    known.set(value, parts);
    return parts;
  };
}
