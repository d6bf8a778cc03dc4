import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { embeddingOf } from './asking.schemas.ts';
import { nameOfCopy } from './content.rules.ts';
import { addSurvey } from './create.ts';
import { lockManagedSurvey, type ManagedSurvey } from './manage.queries.ts';

/** A draft with everything that was decided about the survey, and none of its contacts and answers. */
export async function copySurvey(
  { db }: { db: Db },
  { orgId, actor }: Writer,
  surveyId: string,
): Promise<ManagedSurvey> {
  return await inTransaction(db, async (tx) => {
    const { id, org_id, share_id, status, completed_by, created_at, updated_at, ...content } =
      await lockManagedSurvey(tx, orgId, { id: surveyId, against: 'changes' });
    const { embed, reminders, ...rest } = content;
    const copy = await addSurvey(tx, orgId, {
      ...rest,
      reminders: [...reminders],
      embed: embeddingOf(embed),
      name: nameOfCopy(content.name),
      status: 'draft',
    });
    const target = { kind: 'survey', id: copy.id };
    const details = { name: copy.name, copy_of: surveyId };
    await recordAct(tx, { orgId, actor, act: 'survey.copied', target, details });
    return copy;
  });
}
