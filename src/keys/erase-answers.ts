import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Sql } from '../lib/db/db.ts';
import { listAnswers, type StoredAnswer } from './erase-answers.queries.ts';
import { answerStore } from './idempotency.ts';

const readAtOnce = 100;

export type AnswerName = Omit<StoredAnswer, 'answer'>;

/** The stored answers of an organization's requests that match. They are sealed: each must be opened to be looked at. */
export async function findAnswers(
  { db, secrets }: { db: Sql; secrets: Secrets },
  orgId: string,
  matches: (text: string) => boolean | Promise<boolean>,
): Promise<AnswerName[]> {
  const found: AnswerName[] = [];
  for (let after: AnswerName | null = null; ; ) {
    const answers: StoredAnswer[] = await listAnswers(db, orgId, { after, atMost: readAtOnce });
    for (const { key_id, name, answer } of answers) {
      const store = answerStore(secrets, { owner: orgId, id: `${key_id} ${name}` });
      if (await matches(await store.unpack(answer))) found.push({ key_id, name });
    }
    if (answers.length < readAtOnce) return found;
    after = answers.at(-1)!;
  }
}
