import type { BrowserScene, ScreenEntry } from './scene.ts';

/** Path of the newest response that meets a condition. */
const responsePath =
  (which: 'commented' | 'held') =>
  async ({ db, full }: BrowserScene): Promise<string> => {
    const [row] = await db<{ id: string }[]>`
      select r.id
      from responses r
      left join analyses a on a.org_id = r.org_id and a.response_id = r.id
      where r.org_id = ${full.id} and r.comment is not null
        and (r.held_reason is not null) = ${which === 'held'}
      order by r.state is not distinct from 'done', a.response_id is null, r.category, r.created_at desc
      limit 1`;
    if (row) return `/o/${full.slug}/responses/${row.id}`;
    const [made] = await db<{ id: string }[]>`
      insert into responses (org_id, survey_id, score, category, comment, held_reason)
      select org_id, id, 1, 'detractor', 'Click here', 'scores_opened' from surveys where org_id = ${full.id} limit 1
      returning id`;
    return `/o/${full.slug}/responses/${made!.id}`;
  };

/** A response of an unsubscribed person, with a reply of each outcome. */
async function repliedPath({ db, full }: BrowserScene): Promise<string> {
  const [row] = await db<{ id: string; email: string }[]>`
    select r.id, c.email_key as email
    from responses r
    join contacts c on c.org_id = r.org_id and c.id = r.contact_id
    where r.org_id = ${full.id} and r.held_reason is null
    order by r.created_at, r.id limit 1`;
  await db`
    insert into replies (org_id, response_id, text, author, author_kind, status, reason)
    select ${full.id}, ${row!.id}, 'Thank you. We look into it.', 'Ann', 'member', status, reason
    from (values ('sent', null), ('failed', '550 no such user'), ('unknown', 'the connection was lost'),
                 ('sending', null)) o (status, reason)`;
  await db`
    insert into suppressions (org_id, email, kind) values (${full.id}, ${row!.email}, 'unsubscribed')
    on conflict do nothing`;
  return `/o/${full.slug}/responses/${row!.id}`;
}

async function addSegment({ db, full }: BrowserScene): Promise<string> {
  const all = [
    { field: 'property.team', op: 'is', value: 'Office' },
    { field: 'last_category', op: 'is_not', value: 'detractor' },
  ];
  const [known] = await db<{ id: string }[]>`select id from segments where org_id = ${full.id}`;
  if (known) return known.id;
  const [row] = await db<{ id: string }[]>`
    insert into segments (org_id, name, filter)
    values (${full.id}, 'Happy offices', ${db.json({ all })})
    returning id`;
  return row!.id;
}

/** A saved view of the editor. */
async function savedView({ db, full }: BrowserScene) {
  const filters = [
    ['property.plan', 'office'],
    ['has_comment', 'true'],
  ];
  const [view] = await db<{ id: string }[]>`
    insert into saved_views (org_id, member_id, name, filters)
    select ${full.id}, id, 'Office plan, with comment', ${db.json(filters)}
    from members where email = 'editor@members.test'
    on conflict (org_id, member_id, lower(name)) do update set name = excluded.name
    returning id`;
  return { list: `/o/${full.slug}/responses?${new URLSearchParams(filters)}`, id: view!.id };
}

/** Path of the person with the most responses. */
async function personPath({ db, full }: BrowserScene): Promise<string> {
  const [row] = await db<{ id: string }[]>`
    select p.id
    from people p
    join contacts c on c.org_id = p.org_id and c.email_key = p.email_key
    where p.org_id = ${full.id} and c.responded_at is not null
    group by p.id
    order by count(*) desc, max(c.responded_at) desc
    limit 1`;
  return `/o/${full.slug}/people/${row!.id}`;
}

/** The list of receipts, with one in force and one whose address was unblocked. */
async function erasedPath({ db, full }: BrowserScene): Promise<string> {
  const counts = JSON.stringify({ contacts: 2, mails: 3, openings: 4, responses: 2, comments: 1 });
  await db`
    insert into erasures (org_id, address_hash, scores, counts, allowed_at)
    values (${full.id}, address_hash(${full.id}, 'first@people.test'), 'kept', ${counts}::text::jsonb, null),
           (${full.id}, address_hash(${full.id}, 'other@people.test'), 'deleted', ${counts}::text::jsonb, now())
    on conflict do nothing`;
  return `/o/${full.slug}/people/erased`;
}

export const responseEntries: readonly ScreenEntry[] = [
  { name: 'responses-empty', as: 'viewer', path: ({ empty }) => `/o/${empty.slug}/responses` },
  { name: 'responses', as: 'editor', path: ({ full }) => `/o/${full.slug}/responses` },
  {
    name: 'responses-none-found',
    as: 'viewer',
    path: ({ full }) =>
      `/o/${full.slug}/responses?category=passive&date_from=2001-01-01&date_to=2001-01-02`,
  },
  {
    name: 'responses-property',
    as: 'editor',
    path: ({ full }) => `/o/${full.slug}/responses?property=plan%3Doffice`,
  },
  {
    name: 'responses-more-filters',
    as: 'editor',
    path: ({ full }) => `/o/${full.slug}/responses?category=detractor&date_from=2026-01-01`,
  },
  {
    name: 'response-filtered',
    as: 'editor',
    path: async (scene) =>
      `${await responsePath('commented')(scene)}?category=detractor&state=open`,
  },
  { name: 'responses-view', as: 'editor', path: async (scene) => (await savedView(scene)).list },
  {
    name: 'responses-view-delete',
    as: 'editor',
    path: async (scene) =>
      `/o/${scene.full.slug}/responses/views/${(await savedView(scene)).id}/delete`,
  },
  {
    name: 'responses-saved-view',
    as: 'editor',
    path: ({ full }) => `/o/${full.slug}/responses?property.plan=office&has_comment=true`,
  },
  { name: 'response', as: 'editor', path: responsePath('commented') },
  { name: 'response-replied', as: 'editor', path: repliedPath },
  { name: 'response-held', as: 'editor', path: responsePath('held') },
  { name: 'response-viewer', as: 'viewer', path: responsePath('commented') },
  {
    name: 'response-delete',
    as: 'editor',
    path: async (scene) => `${await responsePath('commented')(scene)}/delete`,
  },
  { name: 'people-empty', as: 'viewer', path: ({ empty }) => `/o/${empty.slug}/people` },
  { name: 'people', as: 'editor', path: ({ full }) => `/o/${full.slug}/people` },
  {
    name: 'people-import',
    as: 'editor',
    path: ({ full }) => `/o/${full.slug}/people/import`,
  },
  {
    name: 'segments',
    as: 'editor',
    path: async (scene) => {
      await addSegment(scene);
      return `/o/${scene.full.slug}/people/segments`;
    },
  },
  {
    name: 'segment',
    as: 'editor',
    path: async (scene) => `/o/${scene.full.slug}/people/segments/${await addSegment(scene)}`,
  },
  {
    name: 'segment-edit',
    as: 'editor',
    path: async (scene) => `/o/${scene.full.slug}/people/segments/${await addSegment(scene)}/edit`,
  },
  {
    name: 'segment-new',
    as: 'editor',
    path: ({ full }) => `/o/${full.slug}/people/segments/new`,
  },
  {
    name: 'people-filtered',
    as: 'editor',
    path: async (scene) =>
      `/o/${scene.full.slug}/people?segment=${await addSegment(scene)}&property.team=Office`,
  },
  {
    name: 'segment-delete',
    as: 'editor',
    path: async (scene) =>
      `/o/${scene.full.slug}/people/segments/${await addSegment(scene)}/delete`,
  },
  { name: 'person', as: 'editor', path: personPath },
  { name: 'person-owner', as: 'owner', path: personPath },
  {
    name: 'person-erase',
    as: 'owner',
    path: async (scene) => `${await personPath(scene)}/erase`,
  },
  {
    name: 'people-erased-empty',
    as: 'owner',
    path: ({ empty }) => `/o/${empty.slug}/people/erased`,
  },
  { name: 'people-erased', as: 'owner', path: erasedPath },
];
