import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { notFound, Refusal } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { countThemesOf, deleteTheme, saveTheme } from './queries.ts';
import type { CommentTheme } from './themes.ts';

/** All of them are looked for in every comment, and sent to a provider. */
const mostOwnThemes = 100;

/** Adds a theme, or gives the one of that name other words. */
export async function keepTheme(db: Db, writer: Writer, theme: CommentTheme) {
  const { orgId } = writer;
  return await inTransaction(db, async (tx) => {
    const kept = await saveTheme(tx, orgId, theme);
    if ((await countThemesOf(tx, orgId)) > mostOwnThemes) {
      throw new Refusal(
        'conflict',
        `an organization has at most ${mostOwnThemes} themes of its own`,
      );
    }
    const details = { name: kept.name };
    await recordAct(tx, { ...writer, act: 'theme.saved', details });
    return kept;
  });
}

export async function removeTheme(db: Db, writer: Writer, name: string) {
  await inTransaction(db, async (tx) => {
    if (!(await deleteTheme(tx, writer.orgId, name))) throw notFound('theme');
    await recordAct(tx, { ...writer, act: 'theme.deleted', details: { name } });
  });
}
