import { type ErasedContact, listContactsOf } from '../../contacts/erase.queries.ts';
import { type AnswerName, findAnswers } from '../../keys/erase-answers.ts';
import type { Secrets } from '../../lib/crypto/secrets.ts';
import type { Db } from '../../lib/db/db.ts';
import { patternOfAddress } from '../../lib/smtp/address.ts';
import { findMessages } from '../../mailbox/erase.ts';
import { listWrittenIds } from './lookup.queries.ts';

/** Copies that name a person and that no key finds: they must be opened or decoded to be looked at. */
export type Copies = { answers: AnswerName[]; messages: string[] };

export async function findCopies(
  { db, secrets }: { db: Db; secrets: Secrets },
  orgId: string,
  key: string,
): Promise<Copies> {
  const contacts = await listContactsOf(db, { orgId, key, before: null });
  const pattern = patternOfAddress(key);
  const written = await listWrittenIds(db, orgId, { contactIds: contacts.map(idOf), pattern });
  const words = contacts.flatMap(({ id, token }) => [id, token]).concat(written);
  const address = new RegExp(pattern, 'i');
  const names = (text: string) => address.test(text) || words.some((word) => text.includes(word));
  return {
    answers: await findAnswers({ db, secrets }, orgId, names),
    messages: await findMessages(db, names),
  };
}

const idOf = ({ id }: ErasedContact) => id;
