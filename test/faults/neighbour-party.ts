import type { Db } from '../../src/lib/db/db.ts';
import { makeClient, makeContact, makeSurvey } from '../support/make/rows.ts';

type MailResult = { email: string; status: string; reason_code?: string };

/** An organization with a survey, as data that can be passed to another thread. */
export async function makeTenant(db: Db) {
  const client = await makeClient(db);
  const shareId = crypto.randomUUID().replaceAll('-', '').slice(0, 16);
  const surveyId = await makeSurvey(db, client.id, { share_id: shareId });
  await makeContact(db, { org_id: client.id, survey_id: surveyId }); // keeps the survey open
  return { ...client, surveyId, shareId };
}

export type Tenant = Awaited<ReturnType<typeof makeTenant>>;
export type Party = ReturnType<typeof partyOf>;

/** Actions of an organization and its respondents. */
export function partyOf(tenant: Tenant, { db, address }: { db: Db; address: string }) {
  const contact = { org_id: tenant.id, survey_id: tenant.surveyId };

  const post = async (path: string, headers: Record<string, string>, body: object) => {
    const answer = await fetch(`${address}${path}`, {
      method: 'POST',
      headers: { Accept: 'application/json', 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as never };
  };

  async function makeLink(): Promise<string> {
    const token = `t${crypto.randomUUID().replaceAll('-', '')}`;
    await makeContact(db, contact, { token });
    return `/s/${token}`;
  }

  async function answer(body: object, link?: string) {
    const answered = await post(link ?? (await makeLink()), {}, body);
    return { ...answered, id: (answered.body as { data?: { id: string } }).data?.id };
  }

  const ownSurvey = () => makeSurvey(db, tenant.id);

  /** Uses a new survey for each call, because a survey is mailed to an address once. */
  async function send(emails: readonly string[], survey?: string): Promise<MailResult[]> {
    const path = `/api/v1/surveys/${survey ?? (await ownSurvey())}/send`;
    const sent = await post(path, tenant.write, { contacts: emails.map((email) => ({ email })) });
    const { data, error } = sent.body as { data?: { results: MailResult[] }; error?: string };
    if (!data) throw new Error(`a send was answered ${sent.status}: ${error}`);
    return data.results;
  }

  async function addWebhook(url: string): Promise<string> {
    const made = await post('/api/webhooks', tenant.write, { url, events: ['response.received'] });
    return (made.body as { id: string }).id;
  }

  return {
    ...tenant,
    shareUrl: `${address}/f/${tenant.shareId}`,
    makeLink,
    makeSurvey: ownSurvey,
    answer,
    send,
    addWebhook,
  };
}
