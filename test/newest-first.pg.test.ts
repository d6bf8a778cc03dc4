import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { allCampaigns, latestCampaigns, listCampaigns } from '../src/campaigns/queries.ts';
import { nextResults } from '../src/campaigns/results.ts';
import { listContactsOf } from '../src/contacts/queries.ts';
import { listKeys, pageOfKeys } from '../src/keys/queries.ts';
import { allSurveys, pageOfSurveys } from '../src/surveys/queries.ts';
import { listWebhooks } from '../src/webhooks/queries.ts';
import { makeContact, makeOrganization, makeSurvey, makeWebhook } from './support/make/rows.ts';
import { testDatabase } from './support/probe/database.ts';

const { db } = await testDatabase();

type Scene = { org: string; survey: string; campaign: string };
type Row = { id: string; created_at: string; n: number };
type List = {
  add: (scene: Scene, row: Row) => Promise<unknown>;
  /** The ids of the list, read in one or in several parts. */
  read: (scene: Scene) => Promise<string[]>;
  /** Whether it is of one survey: rows of another one are not in it. */
  ofSurvey?: true;
};

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
const many = 5;

/** Page by page, one row each; every page says how many there are. */
async function readPages(
  read: (page: number) => Promise<{ rows: readonly { id: string }[]; total: number }>,
) {
  const ids: string[] = [];
  for (let page = 1; page <= many + 1; page++) {
    const { rows, total } = await read(page);
    assert.equal(total, many);
    assert.equal(rows.length, page > many ? 0 : 1);
    ids.push(...idsOf(rows));
  }
  return ids;
}

const addContact = ({ org, survey }: Scene, { n, ...row }: Row) =>
  makeContact(db, { org_id: org, survey_id: survey }, { ...row, name: `Ann ${n}` });
const addSurvey = ({ org }: Scene, { n, ...row }: Row) =>
  makeSurvey(db, org, { ...row, name: `Shop ${n}` });
const addKey =
  (revoked: boolean) =>
  ({ org }: Scene, { n, ...row }: Row) =>
    db`
  insert into api_keys ${db({
    ...row,
    org_id: org,
    name: `key ${n}`,
    public_id: randomUUID(),
    secret_hash: Buffer.alloc(32),
    revoked_at: revoked ? new Date() : null,
  })}`;
const addCampaign = ({ org, survey }: Scene, { n, ...row }: Row) => db`
  insert into campaigns ${db({
    ...row,
    org_id: org,
    survey_id: survey,
    name: `Round ${n}`,
    status: 'running',
  })}`;

const lists: Record<string, List> = {
  'webhooks of an organization': {
    add: ({ org }, { n, ...row }) => makeWebhook(db, org, { ...row, description: `hook ${n}` }),
    read: async ({ org }) => idsOf(await listWebhooks(db, org)),
  },
  'keys of an organization': {
    add: addKey(true),
    read: async ({ org }) => idsOf(await listKeys(db, org)),
  },
  'pages of revoked keys': {
    add: async (scene, row) => {
      await addKey(true)(scene, row);
      await addKey(false)(scene, { ...row, id: randomUUID() });
    },
    read: ({ org }) =>
      readPages(async (page) => {
        const { keys, total } = await pageOfKeys(db, org, { revoked: true, page, limit: 1 });
        return { rows: keys, total };
      }),
  },
  'pages of other keys': {
    add: addKey(false),
    read: ({ org }) =>
      readPages(async (page) => {
        const { keys, total } = await pageOfKeys(db, org, { revoked: false, page, limit: 1 });
        return { rows: keys, total };
      }),
  },
  'campaigns of a survey': {
    add: addCampaign,
    ofSurvey: true,
    read: async ({ org, survey, campaign }) =>
      idsOf(await allCampaigns(db, org, survey)).filter((id) => id !== campaign),
  },
  'campaigns of a survey, in the API': {
    add: addCampaign,
    ofSurvey: true,
    read: async ({ org, survey: surveyId, campaign }) => {
      const page = { page: 1, limit: 50, ignored: [] };
      const [row] = await db<{ list: string }[]>`
        select ${listCampaigns(db, org, { surveyId, page })} as list`;
      const { data, meta } = JSON.parse(row!.list) as { data: { id: string }[]; meta: object };
      assert.partialDeepStrictEqual(meta, { total: many + 1 });
      return idsOf(data).filter((id) => id !== campaign);
    },
  },
  'latest campaigns of a survey': {
    add: addCampaign,
    ofSurvey: true,
    read: async ({ org: orgId, survey: surveyId }) => {
      const two = idsOf(await latestCampaigns(db, { orgId, surveyId }, 2));
      const all = idsOf(await latestCampaigns(db, { orgId, surveyId }, many));
      assert.deepEqual(two, all.slice(0, 2));
      return all;
    },
  },
  'results of a campaign, in parts': {
    add: async ({ org, survey, campaign }, { n: _, ...row }) => {
      const contact_id = await makeContact(db, { org_id: org, survey_id: survey });
      const of = { org_id: org, survey_id: survey, campaign_id: campaign, contact_id };
      await db`insert into campaign_contacts ${db({ ...row, ...of })}`;
    },
    read: async ({ org: orgId, campaign: campaignId }) => {
      const ids: string[] = [];
      for (let after: string | null = null; ; ) {
        const [row, more] = await nextResults(db, { orgId, campaignId, after, atMost: 1 });
        assert.equal(more, undefined);
        if (!row) return ids;
        after = row.row_id;
        ids.push(after);
      }
    },
  },
  'pages of the contacts of a survey': {
    add: addContact,
    ofSurvey: true,
    read: ({ org: orgId, survey: surveyId }) =>
      readPages(async (page) => {
        const wish = { page: { page, limit: 1 }, search: '' };
        const { contacts, total } = await listContactsOf(db, { orgId, surveyId }, wish);
        return { rows: contacts, total };
      }),
  },
  'pages of contacts that a search finds': {
    ofSurvey: true,
    add: async (scene, row) => {
      await addContact(scene, row);
      await addContact(scene, { ...row, id: randomUUID(), n: 9 });
    },
    read: ({ org: orgId, survey: surveyId }) =>
      readPages(async (page) => {
        await db`update contacts set name = 'Ben' where name = 'Ann 9'`;
        const wish = { page: { page, limit: 1 }, search: 'ANN' };
        const { contacts, total } = await listContactsOf(db, { orgId, surveyId }, wish);
        return { rows: contacts, total };
      }),
  },
  'surveys of an organization': {
    add: addSurvey,
    read: async ({ org, survey }) => idsOf(await allSurveys(db, org)).filter((id) => id !== survey),
  },
  'pages of surveys that a search finds': {
    add: addSurvey,
    read: ({ org }) =>
      readPages(async (page) => {
        const found = await pageOfSurveys(db, org, { page, limit: 1, search: 'shop' });
        return { rows: found.surveys, total: found.total };
      }),
  },
};

async function scene(of?: Scene): Promise<Scene> {
  const org = of?.org ?? (await makeOrganization(db));
  const survey = await makeSurvey(db, org);
  const [campaign] = await db<{ id: string }[]>`
    insert into campaigns (org_id, survey_id, name, status, created_at)
    values (${org}, ${survey}, 'Before', 'running', '2020-01-01') returning id`;
  return { org, survey, campaign: campaign!.id };
}

for (const [name, { add, read, ofSurvey }] of Object.entries(lists)) {
  const unlisted = ofSurvey ? 'organization or survey' : 'organization';
  test(`${name}: the newest come first, of the same moment the last id, and none of another ${unlisted}`, async () => {
    const own = await scene();
    const others = [await scene(), ...(ofSurvey ? [await scene(own)] : [])];
    const ids = Array.from({ length: many }, () => randomUUID()).sort();
    // Neither as they are made nor the other way round: the one with the greatest id is the oldest.
    const rows = [1, 3, 4, 0, 2].map((n) => ({
      id: ids[n]!,
      n,
      created_at: n === 4 ? '2026-01-01T00:00Z' : '2026-01-02T00:00Z',
    }));
    for (const row of rows) {
      await add(own, row);
      for (const other of others) await add(other, { ...row, id: randomUUID() });
    }
    assert.deepEqual(
      await read(own),
      [3, 2, 1, 0, 4].map((n) => ids[n]),
    );
  });
}
