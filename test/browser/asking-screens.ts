import { randomUUID } from 'node:crypto';
import { commandWriter } from '../../src/audit/acts.ts';
import { createCampaign } from '../../src/campaigns/campaign.ts';
import { getUpload } from '../../src/contacts/upload.queries.ts';
import { importUpload, saveUpload } from '../../src/contacts/upload.ts';
import { json } from '../../src/lib/db/db.ts';
import { createSegment } from '../../src/people/segments.ts';
import { suppress } from '../../src/suppressions/suppress.ts';
import { makeSurvey } from '../support/make/rows.ts';
import type { BrowserScene, ScreenEntry } from './scene.ts';

const list = `Email;Name;Plan
amara@example.com;Amara Eriksen;pro
hana@example.com;Hana Jansen;free
a.very.long.address.that.somebody.was.given@a-department-with-a-long-name.example.com;Maximiliane-Charlotte von und zu Hohenstein;pro
layla@example.com;ليلى منصور;pro
farah.patel@example;Farah Patel;pro
;No Address;pro
ivan@example.com;Ivan Silva;free
`;

/** A survey with an uploaded list, in which one person has unsubscribed and two lines have no address. */
async function surveyWithList({ db, full }: BrowserScene) {
  const surveyId = await makeSurvey(db, full.id, { name: 'Customer loyalty' });
  const bytes = new TextEncoder().encode(list);
  const id = await saveUpload({ db }, commandWriter(full.id), {
    surveyId,
    name: 'november.csv',
    bytes,
  });
  return { surveyId, uploadId: id, path: `/o/${full.slug}/surveys/${surveyId}` };
}

async function surveyWithContacts(scene: BrowserScene) {
  const { db, full } = scene;
  const made = await surveyWithList(scene);
  const upload = await getUpload(db, full.id, { id: made.uploadId, surveyId: made.surveyId });
  const columns = (['email', 'name', 'property'] as const).map((use) => ({ name: use, use }));
  const mapping = { columns, hasHeader: true };
  await importUpload({ db }, commandWriter(full.id), { upload, ...mapping });
  await db.begin((tx) =>
    suppress(
      tx,
      { orgId: full.id, email: 'ivan@example.com' },
      { kind: 'unsubscribed', detail: null },
    ),
  );
  await db`update contacts set status = 'pending' where survey_id = ${made.surveyId}`;
  return made;
}

async function campaignOf(scene: BrowserScene) {
  const { db, full } = scene;
  const made = await surveyWithContacts(scene);
  const id = await createCampaign({ db }, commandWriter(full.id), {
    surveyId: made.surveyId,
  });
  return `${made.path}/send/${id}`;
}

/** A paused campaign with answers, bounces, failures and blocked contacts. */
async function sentCampaign({ db, full }: BrowserScene) {
  const surveyId = await makeSurvey(db, full.id, { name: 'Customer loyalty' });
  const contacts = await db<{ id: string; n: number }[]>`
    insert into contacts (org_id, survey_id, email, name, token, status, responded_at)
    select ${full.id}, ${surveyId}, 'p' || n || '@example.com', 'Robin Reader ' || n, md5(${surveyId} || n),
           case when n <= 60 then 'responded' when n <= 64 then 'bounced' when n <= 180 then 'sent' else 'pending' end,
           case when n <= 60 then now() end
    from generate_series(1, 240) n
    returning id, substr(email, 2, strpos(email, '@') - 2)::int as n`;
  const [campaign] = await db<{ id: string }[]>`
    insert into campaigns (org_id, survey_id, name, status, total, duplicates, waiting, started_at)
    values (${full.id}, ${surveyId}, 'Customer loyalty', 'paused', 240, 9, 48, now() - interval '2 hours')
    returning id`;
  const batch = randomUUID();
  await db`
    insert into campaign_batches (id, org_id, campaign_id, mails, sent, blocked, failed, ended_at)
    values (${batch}, ${full.id}, ${campaign!.id}, 183, 180, 0, 3, now())`;
  const reasonOf = (n: number) => (n > 236 ? 'unsubscribed' : n > 231 ? 'frequency' : null);
  const rows = contacts.map(({ id, n }) => ({
    org_id: full.id,
    survey_id: surveyId,
    campaign_id: campaign!.id,
    contact_id: id,
    batch_id: n <= 183 ? batch : null,
    reason_code: reasonOf(n),
  }));
  await db`insert into campaign_contacts ${db(rows)}`;
  await db`
    insert into mails (org_id, survey_id, contact_id, request_id, email, status, blocks_resend, reason, reason_code, month)
    select org_id, survey_id, id, ${batch}, email, 'failed', false, '550 5.7.1 refused', 'refused', now()
    from contacts where survey_id = ${surveyId} and email in ('p181@example.com', 'p182@example.com', 'p183@example.com')`;
  const score = db`1 + length(email) * 7 % 10`;
  await db`
    insert into responses (org_id, survey_id, contact_id, score, category, comment)
    select org_id, survey_id, id, ${score},
           case when ${score} > 8 then 'promoter' when ${score} > 6 then 'passive' else 'detractor' end,
           'The new search is a joy, and support answered within the hour.'
    from contacts where survey_id = ${surveyId} and status = 'responded'`;
  return `/o/${full.slug}/surveys/${surveyId}/send/${campaign!.id}`;
}

/** A quarterly survey in its third round. */
async function surveyInRounds({ db, full }: BrowserScene) {
  const repeat = { every_days: 30, audience: null, per_day: 400, spread: true };
  const surveyId = await makeSurvey(db, full.id, {
    name: 'Customer loyalty',
    repeat: json(db, repeat),
    repeat_since: new Date('2026-01-01'),
  });
  await db`
    insert into contacts (org_id, survey_id, email, token, status, round, superseded, sent_at, responded_at)
    select ${full.id}, ${surveyId}, 'p' || n || '@example.com', md5(${surveyId} || n || '-' || round),
           case when n % 3 = 0 then 'responded' else 'sent' end, round, round < 3,
           now() - make_interval(days => (3 - round) * 30 + n % 27),
           case when n % 3 = 0 then now() - make_interval(days => (3 - round) * 30) end
    from generate_series(1, 600) n, generate_series(1, 3) round`;
  await db`
    insert into responses (org_id, survey_id, contact_id, score, category)
    select org_id, survey_id, id, case when length(email) % 2 = 0 then 10 else 4 end,
           case when length(email) % 2 = 0 then 'promoter' else 'detractor' end
    from contacts where survey_id = ${surveyId} and status = 'responded'`;
  return `/o/${full.slug}/surveys/${surveyId}`;
}

/** Screens for contacts of a survey and for sending it. */
export const askingScreens: readonly ScreenEntry[] = [
  {
    name: 'contacts',
    as: 'editor',
    path: async (scene) => `${(await surveyWithContacts(scene)).path}/contacts`,
  },
  {
    name: 'contacts-empty',
    as: 'viewer',
    path: async ({ db, empty }) =>
      `/o/${empty.slug}/surveys/${await makeSurvey(db, empty.id)}/contacts`,
  },
  {
    name: 'contacts-columns',
    as: 'editor',
    path: async (scene) => {
      const { path, uploadId } = await surveyWithList(scene);
      return `${path}/contacts/uploads/${uploadId}`;
    },
  },
  {
    name: 'contacts-imported',
    as: 'editor',
    path: async (scene) => {
      const { path, uploadId } = await surveyWithContacts(scene);
      return `${path}/contacts/uploads/${uploadId}`;
    },
  },
  {
    name: 'contacts-delete-list',
    as: 'editor',
    path: async (scene) => {
      const { path, uploadId } = await surveyWithContacts(scene);
      return `${path}/contacts/uploads/${uploadId}/delete`;
    },
  },
  {
    name: 'contacts-delete',
    as: 'editor',
    path: async (scene) => {
      const { path, surveyId } = await surveyWithContacts(scene);
      const [contact] = await scene.db<{ id: string }[]>`
        select id from contacts where survey_id = ${surveyId} order by email limit 1`;
      return `${path}/contacts/${contact!.id}/delete`;
    },
  },
  {
    name: 'send',
    as: 'editor',
    path: async (scene) => `${(await surveyWithContacts(scene)).path}/send`,
  },
  {
    name: 'send-audience',
    as: 'editor',
    async path(scene) {
      const { db, full } = scene;
      const { path } = await surveyWithContacts(scene);
      const filter = { all: [{ field: 'property.plan', op: 'exists' as const, value: true }] };
      const name = 'Customers on any plan, asked at most once in the last quarter';
      const { id } = await createSegment(db, commandWriter(full.id), { name, filter });
      return `${path}/send?audience=${id}`;
    },
  },
  { name: 'repeat', as: 'editor', path: async (scene) => `${await surveyInRounds(scene)}/repeat` },
  { name: 'rounds', as: 'viewer', path: surveyInRounds },
  {
    name: 'send-empty',
    as: 'viewer',
    path: async ({ db, empty }) =>
      `/o/${empty.slug}/surveys/${await makeSurvey(db, empty.id)}/send`,
  },
  { name: 'campaign', as: 'editor', path: campaignOf },
  { name: 'campaign-sent', as: 'editor', path: sentCampaign },
  { name: 'campaign-stop', as: 'editor', path: async (scene) => `${await campaignOf(scene)}/stop` },
];
