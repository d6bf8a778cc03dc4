import { randomBytes } from 'node:crypto';
import { notFound } from '../errors.ts';
import { type Sql, violates } from '../lib/db/db.ts';
import { insertSurvey, type ManagedSurvey, type NewSurvey } from './manage.queries.ts';

const shareIdBytes = 12;

/** What a survey is made from; its shareable address is drawn here. */
export type SurveyWish = Omit<NewSurvey, 'share_id'>;

export async function createSurvey(
  sql: Sql,
  orgId: string,
  wish: SurveyWish,
): Promise<ManagedSurvey> {
  const share_id = randomBytes(shareIdBytes).toString('base64url');
  try {
    return await insertSurvey(sql, orgId, { ...wish, share_id });
  } catch (error) {
    throw violates(error, 'surveys_belong_to_organization') ? notFound('organization') : error;
  }
}

/** The address at which anyone can answer. */
export const shareUrl = (publicUrl: string | null, { share_id }: { share_id: string }) =>
  publicUrl && `${publicUrl}/f/${share_id}`;
