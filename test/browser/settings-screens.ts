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
  { name: 'settings-general', as: 'owner', path: settings('general') },
  { name: 'settings-general-read', as: 'viewer', path: settings('general') },
  { name: 'settings-api-keys', as: 'owner', path: withKeys },
  { name: 'settings-api-keys-none', as: 'owner', path: emptySettings('api-keys') },
  { name: 'settings-api-keys-new', as: 'owner', path: settings('api-keys/new') },
  { name: 'settings-api-keys-revoke', as: 'owner', path: revokePage },
  { name: 'settings-api-keys-refused', as: 'editor', path: settings('api-keys'), status: 403 },
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
