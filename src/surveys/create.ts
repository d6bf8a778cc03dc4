import { randomBytes } from 'node:crypto';
import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { notFound } from '../errors.ts';
import { type Db, type Sql, violates } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { getOrganization } from '../organizations/queries.ts';
import { checkContent } from './content.rules.ts';
import { insertSurvey, type ManagedSurvey, type SurveyContent } from './manage.queries.ts';
import type { TextsByLanguage } from './texts.ts';
import type { NewSurveyWish } from './wish.schemas.ts';

const shareIdBytes = 12;

/** What a survey is made from; its shareable address is drawn here. */
export type SurveyWish = Partial<NewSurveyWish> &
  Pick<NewSurveyWish, 'name' | 'question_text' | 'from_name' | 'from_email'> & {
    /** When it was made, if that was not just now. */
    created_at?: Date;
  };

export async function createSurvey(
  { db }: { db: Db },
  { orgId, actor }: Writer,
  wish: SurveyWish,
): Promise<ManagedSurvey> {
  return await inTransaction(db, async (tx) => {
    const survey = await addSurvey(tx, orgId, wish);
    const details = { name: survey.name, status: survey.status };
    const target = { kind: 'survey', id: survey.id };
    await recordAct(tx, { orgId, actor, act: 'survey.created', target, details });
    return survey;
  });
}

/** The same as a part of something larger, which leaves a trace of its own. */
export async function addSurvey(
  sql: Sql,
  orgId: string,
  { status = 'active', created_at, ...wish }: SurveyWish,
): Promise<ManagedSurvey> {
  const language = wish.language ?? (await getOrganization(sql, orgId)).language;
  const content = contentOf({ ...wish, language });
  checkContent(content);
  const share_id = randomBytes(shareIdBytes).toString('base64url');
  try {
    const row = { ...content, status, share_id, ...(created_at && { created_at }) };
    return await insertSurvey(sql, orgId, row);
  } catch (error) {
    throw violates(error, 'surveys_belong_to_organization') ? notFound('organization') : error;
  }
}

/** What the wish leaves out is as it is from the start; the language is the organization's then. */
function contentOf(
  wish: Omit<SurveyWish, 'status' | 'created_at'> & { language: string },
): SurveyContent {
  return {
    ...wish,
    reply_to: wish.reply_to ?? wish.from_email,
    type: wish.type ?? 'nps',
    audience: wish.audience ?? null,
    subject: wish.subject ?? null,
    intro: wish.intro ?? null,
    follow_up: wish.follow_up ?? null,
    thanks: wish.thanks ?? null,
    texts: (wish.texts ?? {}) as TextsByLanguage,
    reminders: wish.reminders ?? [],
    ask_after_days: wish.ask_after_days ?? null,
    send_window: wish.send_window ?? null,
    embed: wish.embed ?? { origins: [] },
  };
}

/** The address at which anyone can answer. */
export const shareUrl = (publicUrl: string | null, { share_id }: { share_id: string }) =>
  publicUrl && `${publicUrl}/f/${share_id}`;
