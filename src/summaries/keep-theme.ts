import { Refusal } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { countThemesOf, saveTheme } from './queries.ts';
import type { CommentTheme } from './themes.ts';

/** All of them are looked for in every comment, and sent to a provider. */
const mostOwnThemes = 100;

/** Adds a theme, or gives the one of that name other words. */
export async function keepTheme(db: Db, orgId: string, theme: CommentTheme) {
  return await inTransaction(db, async (tx) => {
    const kept = await saveTheme(tx, orgId, theme);
    if ((await countThemesOf(tx, orgId)) > mostOwnThemes) {
      throw new Refusal(
        'conflict',
        `an organization has at most ${mostOwnThemes} themes of its own`,
      );
    }
    return kept;
  });
}
