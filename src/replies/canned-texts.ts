import { type AuditedAct, changesOf, recordAct, type Writer } from '../audit/acts.ts';
import { notFound, orNotFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, one, type Sql, violates } from '../lib/db/db.ts';
import { type IfMatch, refuseOtherVersion, versionOf } from '../lib/http/version.ts';
import { maxCannedTexts } from '../limits.ts';
import { refuseAtLimit } from '../organizations/queries.ts';

type CannedTextInput = { name: string; text: string };
export type CannedText = CannedTextInput & { id: string };

/** Lists the texts by name. Sorts by code points, the same in every database. */
export async function listCannedTexts(sql: Sql, orgId: string): Promise<CannedText[]> {
  return await sql<CannedText[]>`
    select id, name, text
    from canned_texts
    where org_id = ${orgId}
    order by lower(name) collate "C", name collate "C"`;
}

export async function createCannedText(db: Db, writer: Writer, { name, text }: CannedTextInput) {
  const { orgId } = writer;
  return await inTransaction(db, async (tx) => {
    await refuseAtLimit(tx, orgId, 'canned_texts', maxCannedTexts);
    const created = one(
      await tx<CannedText[]>`
        insert into canned_texts (org_id, name, text)
        values (${orgId}, ${name}, ${text})
        returning id, name, text`.catch(refuseDuplicate(name)),
    );
    await recordCannedText(tx, writer, { act: 'canned_text.created', row: created });
    return created;
  });
}

export async function changeCannedText(
  db: Db,
  writer: Writer,
  { id, name, text, ifMatch }: CannedText & { ifMatch?: IfMatch },
): Promise<CannedText> {
  const { orgId } = writer;
  return await inTransaction(db, async (tx) => {
    const before = await getCannedText(tx, orgId, id, { lock: true });
    refuseOtherVersion(versionOfCannedText(before), ifMatch);
    if (before.name === name && before.text === text) return before;
    const changed = one(
      await tx<CannedText[]>`
        update canned_texts
        set name = ${name}, text = ${text}
        where org_id = ${orgId} and id = ${id}
        returning id, name, text`.catch(refuseDuplicate(name)),
    );
    const details = { changes: changesOf(before, { name, text }) };
    await recordCannedText(tx, writer, { act: 'canned_text.changed', row: changed, details });
    return changed;
  });
}

export async function deleteCannedText(db: Db, writer: Writer, id: string): Promise<CannedText> {
  return await inTransaction(db, async (tx) => {
    const [deleted] = await tx<CannedText[]>`
      delete from canned_texts
      where org_id = ${writer.orgId} and id = ${id}
      returning id, name, text`;
    if (!deleted) throw notFound('canned text');
    await recordCannedText(tx, writer, { act: 'canned_text.deleted', row: deleted });
    return deleted;
  });
}

export async function getCannedText(sql: Sql, orgId: string, id: string, { lock = false } = {}) {
  const [row] = await sql<CannedText[]>`
    select id, name, text
    from canned_texts
    where org_id = ${orgId} and id = ${id} ${lock ? sql`for no key update` : sql``}`;
  return orNotFound(row, 'canned text');
}

export const versionOfCannedText = (row: CannedText) => versionOf(row, ['name', 'text']);

type CannedTextAct = Pick<AuditedAct, 'act' | 'details'> & { row: CannedText };

function recordCannedText(tx: Sql, writer: Writer, { act, row, details }: CannedTextAct) {
  const target = { kind: 'canned_text', id: row.id };
  return recordAct(tx, { ...writer, act, target, details: { name: row.name, ...details } });
}

const refuseDuplicate =
  (name: string) =>
  (error: unknown): never => {
    if (!violates(error, 'canned_texts_one_per_name')) throw error;
    throw new Refusal('conflict', `the organization already has a canned text named ${name}`, {
      code: 'name_taken',
    });
  };
