import type { Context } from 'hono';
import { readSessionHash } from './cookie.ts';
import { findHome } from './queries.ts';
import type { SessionTools } from './session.ts';

/** Where a reader begins: at an organization of its own, or at what a member without one may see. */
export async function homePath(c: Context, { db, publicUrl }: SessionTools): Promise<string> {
  const hash = readSessionHash(c, publicUrl);
  const home = hash && (await findHome(db, hash));
  if (!home) return '/sign-in';
  if (home.slug !== null) return `/o/${home.slug}`;
  return home.isOperator ? '/operator' : '/account';
}
