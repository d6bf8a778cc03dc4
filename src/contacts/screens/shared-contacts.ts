import type { Context } from 'hono';
import { shareReads } from '../../lib/async/shared-reads.ts';
import type { Db } from '../../lib/db/db.ts';
import { linkRequests } from '../../lib/http/request-spans.ts';
import type { Page } from '../../lib/paging/page.ts';
import { getOrgSurvey } from '../../surveys/manage.queries.ts';
import { listContactsOf } from '../survey.queries.ts';

type AskedContacts = {
  orgId: string;
  surveyId: string;
  page: Pick<Page, 'page' | 'limit'>;
  search: string;
};

export type ReadContacts = (asked: AskedContacts, c: Context) => ReturnType<typeof readContacts>;

/** Members who look at the same contacts at the same time share a read. */
export const createContactReads = (db: Db): ReadContacts =>
  shareReads((asked: AskedContacts) => readContacts(db, asked), linkRequests);

/** A survey with a page of its contacts, as every member sees it. */
async function readContacts(db: Db, { orgId, surveyId, ...asked }: AskedContacts) {
  const survey = await getOrgSurvey(db, orgId, surveyId);
  return { survey, ...(await listContactsOf(db, { orgId, surveyId }, asked)) };
}
