import { commandWriter } from '../../src/audit/acts.ts';
import { createKey } from '../../src/keys/manage.ts';
import { one } from '../../src/lib/db/db.ts';
import { createCannedText, listCannedTexts } from '../../src/replies/canned-texts.ts';
import { listTags } from '../../src/tags/tags.ts';
import type { BrowserScene, ScreenEntry } from './scene.ts';

const settings = (page: string) => (scene: BrowserScene) =>
  `/o/${scene.full.slug}/settings/${page}`;
const emptySettings = (page: string) => (scene: BrowserScene) =>
  `/o/${scene.empty.slug}/settings/${page}`;

export const settingsEntries: readonly ScreenEntry[] = [
  { name: 'settings', as: 'owner', path: ({ full }) => `/o/${full.slug}/settings/overview` },
  { name: 'settings-general', as: 'owner', path: settings('general') },
  { name: 'settings-general-read', as: 'viewer', path: settings('general') },
  { name: 'settings-api-keys', as: 'owner', path: withKeys },
  { name: 'settings-api-keys-none', as: 'owner', path: emptySettings('api-keys') },
  { name: 'settings-api-keys-new', as: 'owner', path: settings('api-keys/new') },
  { name: 'settings-api-keys-revoke', as: 'owner', path: revokePage },
  { name: 'settings-api-keys-refused', as: 'editor', path: settings('api-keys'), status: 403 },
  { name: 'settings-import', as: 'editor', path: importPage('finished') },
  { name: 'settings-import-none', as: 'owner', path: emptySettings('import') },
  { name: 'settings-import-check', as: 'editor', path: importPage('checked') },
  { name: 'settings-import-imported', as: 'editor', path: importPage('finished', true) },
  { name: 'settings-import-stopped', as: 'editor', path: importPage('failed', true) },
  { name: 'settings-import-delete', as: 'editor', path: importPage('checked', true, '/delete') },
  { name: 'settings-tags', as: 'editor', path: settings('tags') },
  { name: 'settings-tags-none', as: 'viewer', path: emptySettings('tags') },
  { name: 'settings-tag', as: 'editor', path: tagPage('') },
  { name: 'settings-tag-delete', as: 'editor', path: tagPage('/delete') },
  { name: 'settings-canned-texts', as: 'editor', path: cannedTextPage(null) },
  { name: 'settings-canned-texts-none', as: 'viewer', path: emptySettings('canned-texts') },
  { name: 'settings-canned-text', as: 'editor', path: cannedTextPage('') },
  { name: 'settings-canned-text-delete', as: 'editor', path: cannedTextPage('/delete') },
  { name: 'settings-texts', as: 'owner', path: settings('texts') },
  { name: 'settings-mail', as: 'owner', path: settings('mail?look=now') },
  { name: 'settings-notifications', as: 'viewer', path: settings('notifications') },
  { name: 'settings-notifications-owner', as: 'owner', path: settings('notifications') },
  { name: 'settings-usage', as: 'viewer', path: settings('usage') },
  { name: 'settings-audit', as: 'owner', path: settings('audit') },
  { name: 'settings-audit-none', as: 'owner', path: emptySettings('audit') },
];

async function withKeys({ db, full }: BrowserScene) {
  const writer = commandWriter(full.id);
  const soon = new Date(Date.now() + 9 * 86_400_000);
  await createKey(db, writer, { name: 'crm sync', permission: 'write', expires_at: soon });
  await createKey(db, writer, { name: 'old dashboard', expires_at: new Date(0) });
  await db`update api_keys set last_used_at = now() - interval '4 minutes' where name = 'crm sync'`;
  return `/o/${full.slug}/settings/api-keys`;
}

async function revokePage({ db, full }: BrowserScene) {
  const { id } = await createKey(db, commandWriter(full.id), { name: 'website' });
  return `/o/${full.slug}/settings/api-keys/${id}/revoke`;
}

const march = { promoters: 412, passives: 160, detractors: 97, score_sum: 5321 };
const april = { promoters: 380, passives: 144, detractors: 121, score_sum: 4988 };
const counts = {
  rows: 1320,
  responses: { promoters: 792, passives: 304, detractors: 218 },
  months: { '2025-03': march, '2025-04': april },
  ...{ people: 0, unsubscribed: 0, bounced: 0, passed: { unanswered: 2, 'other type': 2 } },
  ...{ otherTypes: ['csat'], unclear: 2 },
  shown: [
    { line: 17, column: 'Score', complaint: '"11" is not a score from 0 to 10' },
    {
      line: 90,
      column: 'Created At',
      complaint: '"03/01/2024" is not a time such as 2024-03-01 10:00:00 UTC',
    },
  ],
};
const plan = {
  kind: 'responses',
  columns: [
    { name: 'Score', use: 'score' },
    { name: 'Created At', use: 'time' },
    { name: 'Plan', use: 'property' },
  ],
};

/** The list of imports, or with `isOne` an import. */
function importPage(status: string, isOne = false, act = '') {
  return async ({ db, full }: BrowserScene) => {
    const [survey] = await db<{ id: string }[]>`
      select id from surveys where org_id = ${full.id} order by created_at limit 1`;
    const after = { '2025-03': march, '2025-04': { ...april, promoters: 379, score_sum: 4978 } };
    const { id } = one(
      await db<{ id: string }[]>`
        insert into imports (org_id, service, survey_id, type, time_zone, status, reason, actor, after)
        values (${full.id}, 'delighted', ${status === 'checked' ? null : survey!.id}, 'nps', 'Europe/Berlin', ${status},
                ${status === 'failed' ? 'an unexpected error stopped it' : null}, '{}', ${db.json(after)})
        returning id`,
    );
    const done = status === 'failed' ? 640 : 1314;
    const imported = { responses: done - 1, contacts: 0, unsubscribed: 0, bounced: 0, erased: 1 };
    await db`
      insert into import_files (org_id, import_id, place, name, bytes, plan, counts, reason, imported, done)
      values (${full.id}, ${id}, 0, 'responses.csv', 190000, ${db.json(plan)}, ${db.json(counts)}, null,
              ${status === 'checked' ? null : db.json(imported)}, ${status === 'checked' ? 0 : done}),
             (${full.id}, ${id}, 1, 'notes.csv', 200, null, null,
              'this is not a Delighted export: line 1 has no column for scores or email addresses, only "Colour". Nothing was imported',
              null, 0)`;
    const list = `/o/${full.slug}/settings/import`;
    return isOne || status === 'checked' ? `${list}/${id}${act}` : list;
  };
}

/** The list, or with `act` a page of one text. */
function cannedTextPage(act: string | null) {
  return async ({ db, full }: BrowserScene) => {
    const list = `/o/${full.slug}/settings/canned-texts`;
    const { id } =
      (await listCannedTexts(db, full.id))[0] ??
      (await createCannedText(db, commandWriter(full.id), {
        name: 'Thanks',
        text: 'Thank you for taking the time to answer.',
      }));
    return act === null ? list : `${list}/${id}${act}`;
  };
}

function tagPage(act: string) {
  return async ({ db, full }: BrowserScene) => {
    const { id } = one((await listTags(db, full.id)).slice(0, 1));
    return `/o/${full.slug}/settings/tags/${id}${act}`;
  };
}
