import { Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../errors.ts';
import { Name, OneOf } from '../lib/cli/options.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import { parsePage } from '../lib/paging/page.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { requireRecentProof, requireRole, type ScreenEnv } from '../sessions/session.ts';
import { Confirm } from '../web/app/acts.tsx';
import { flash } from '../web/app/flash.ts';
import { emptyForm, type FormState, readForm } from '../web/app/read-form.ts';
import { renderSettings, settingPath } from '../web/app/settings-screen.tsx';
import { keepOnce, takeOnce } from '../web/app/shown-once.ts';
import { KeyForm } from './key-form.tsx';
import { KeyList, type MadeKey } from './key-list.tsx';
import { createKey, getKey, revokeKey } from './manage.ts';
import { pageOfKeys } from './queries.ts';
import { expiryChoices, expiryOf } from './rules.ts';

const revokeTitle = (name: string) => `Revoke the key “${name}”`;

type KeyScreenTools = { db: Db; secrets: Secrets; publicUrl: string };

const NewKeyForm = v.object({
  name: Name,
  permission: v.optional(OneOf(['read', 'write']), 'read'),
  expires: v.optional(OneOf(expiryChoices), 'never'),
});

const MadeKeyShown = v.object({ id: v.string(), name: v.string(), key: v.string() });

/** Settings, API Keys: below `/o/:slug/settings/api-keys`, for owners. */
export const keyScreens = ({ db, secrets, publicUrl }: KeyScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', async (c) => {
      const { orgId, memberId } = requireRole(c, 'owner');
      const { page, limit } = parsePage(c.req.queries());
      const revoked = c.req.query('state') === 'revoked';
      const shown = await pageOfKeys(db, orgId, { revoked, page, limit });
      const made = v.safeParse(MadeKeyShown, takeOnce(c, secrets, { orgId, memberId }));
      const body = (
        <KeyList
          organization={c.var.organization}
          made={made.success ? (made.output satisfies MadeKey) : null}
          {...{ ...shown, revoked, page, limit, publicUrl, now: new Date() }}
        />
      );
      return renderSettings(c, { setting: 'api-keys', body });
    })

    .get('/new', (c) => {
      requireRole(c, 'owner');
      requireRecentProof(c);
      return showForm(c, emptyForm());
    })

    .post('/', async (c) => {
      const owner = requireRole(c, 'owner');
      requireRecentProof(c);
      const form = await readForm(c, NewKeyForm);
      if (form.errors) return showForm(c, form, 422);
      const { expires, ...given } = form.values;
      const expires_at = expiryOf(expires, new Date());
      const { id, name, key } = await createKey(db, owner, { ...given, expires_at });
      keepOnce(c, secrets, owner, { id, name, key });
      return c.redirect(settingPath(c.var.organization, 'api-keys'), 303);
    })

    .get('/:id/revoke', async (c) => {
      const { orgId } = requireRole(c, 'owner');
      requireRecentProof(c);
      const { id, name } = await getKey(db, orgId, keyId(c.req.param('id')));
      const list = settingPath(c.var.organization, 'api-keys');
      const body = (
        <section aria-labelledby="revoke">
          <h2 id="revoke">{revokeTitle(name)}</h2>
          <Confirm action={`${list}/${id}/revoke`} button="Revoke" cancel={list}>
            <p>
              What uses this key stops working at once: its very next request is refused. A revoked
              key cannot be made to work again; a new one takes its place.
            </p>
          </Confirm>
        </section>
      );
      const trail = [{ text: 'API Keys', href: list }];
      return renderSettings(c, {
        setting: 'api-keys',
        title: revokeTitle(name),
        body,
        trail,
      });
    })

    .post('/:id/revoke', async (c) => {
      const owner = requireRole(c, 'owner');
      requireRecentProof(c);
      const { name } = await revokeKey(db, owner, keyId(c.req.param('id')));
      flash(c, { kind: 'fine', text: `The key “${name}” is revoked.` });
      return c.redirect(settingPath(c.var.organization, 'api-keys'), 303);
    });

function showForm(
  c: Parameters<typeof renderSettings>[0],
  form: FormState,
  status: 200 | 422 = 200,
) {
  const list = settingPath(c.get('organization'), 'api-keys');
  const trail = [{ text: 'API Keys', href: list }];
  const body = <KeyForm form={form} action={list} cancel={list} />;
  return renderSettings(c, { setting: 'api-keys', title: 'New API Key', body, trail, status });
}

function keyId(text: string): string {
  if (!isUuid(text)) throw notFound('key');
  return text;
}
