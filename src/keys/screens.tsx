import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Name, OneOf } from '../lib/cli/command.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import { parsePage } from '../lib/paging/page.ts';
import { idParam } from '../lib/validation/parse.ts';
import { requireProvedOwner, requireRole, type ScreenEnv } from '../sessions/session.ts';
import { Confirm, FormErrors, LastUsed, Part, Secret, State, Time } from '../web/app/badges.tsx';
import { redirectWith, setOneTimeSecret, takeOneTimeSecret } from '../web/app/flash.ts';
import {
  Choice,
  emptyForm,
  Field,
  LinkButton,
  readForm,
  Select,
  SubmitOrCancel,
} from '../web/app/forms.tsx';
import { counted, DataTable, EmptyState, PagedList } from '../web/app/lists.tsx';
import { renderSettings, settingPath } from '../web/app/settings-screen.tsx';
import { createKey, revokeKey } from './manage.ts';
import { getKey, type ListedKey, listKeys } from './queries.ts';
import { expiryChoices, expiryOf } from './rules.ts';

type KeyScreenTools = { db: Db; secrets: Secrets; publicUrl: string };

const NewKeyForm = v.object({
  name: Name,
  permission: v.optional(OneOf(['read', 'write']), 'read'),
  expires: v.optional(OneOf(expiryChoices), 'never'),
});

/** The key that was just created. Its text is shown only once. */
const NewKey = v.object({ id: v.string(), name: v.string(), key: v.string() });

/** The page of API keys in the settings, for owners. */
export const keyScreens = (tools: KeyScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showList(c, tools))
    .get('/new', (c) => {
      requireProvedOwner(c);
      return showForm(c);
    })

    .post('/', async (c) => {
      const owner = requireProvedOwner(c);
      const form = await readForm(c, NewKeyForm);
      if (form.errors) return showForm(c, form);
      const { expires, ...options } = form.values;
      const expires_at = expiryOf(expires, new Date());
      const { id, name, key } = await createKey(tools.db, owner, { ...options, expires_at });
      setOneTimeSecret(c, tools.secrets, owner, { id, name, key });
      return c.redirect(listPath(c), 303);
    })

    .get('/:id/revoke', async (c) => {
      const { orgId } = requireProvedOwner(c);
      const { id, name } = await getKey(tools.db, orgId, idParam(c, 'key'));
      const body = (
        <Confirm action={`${listPath(c)}/${id}/revoke`} button="Revoke" cancel={listPath(c)}>
          <p>
            Anything that uses this key stops working immediately. You can’t restore a revoked key,
            but you can create a new one.
          </p>
        </Confirm>
      );
      return renderSettings(c, { setting: 'api-keys', title: `Revoke the key “${name}”`, body });
    })

    .post('/:id/revoke', async (c) => {
      const owner = requireProvedOwner(c);
      const { name } = await revokeKey(tools.db, owner, idParam(c, 'key'));
      return redirectWith(c, listPath(c), `Key “${name}” revoked.`);
    });

const listPath = (c: Context<ScreenEnv>) => settingPath(c.var.organization, 'api-keys');

const expiry = {
  '30d': 'In 30 days',
  '90d': 'In 90 days',
  '365d': 'In a year',
  never: 'Never',
} as const;

function showForm(c: Context<ScreenEnv>, form = emptyForm()) {
  const body = (
    <form method="post" action={listPath(c)} class="card stack narrow">
      <FormErrors form={form} />
      <Field
        name="name"
        label="Name"
        form={form}
        help="Where you will use it, such as “website”."
        maxlength={200}
        autocomplete="off"
        required
      />
      <Choice
        name="permission"
        label="Permission"
        form={form}
        value="read"
        options={[
          { value: 'read', text: 'Read: can see everything, but change nothing' },
          { value: 'write', text: 'Read and write: also sends emails and changes data' },
        ]}
      />
      <Select
        name="expires"
        label="Expires"
        form={form}
        help="The key stops working after that day."
        value="365d"
        options={expiryChoices.map((value) => ({ value, text: expiry[value] }))}
      />
      <SubmitOrCancel button="Create key" cancel={listPath(c)} />
    </form>
  );
  return renderSettings(c, { setting: 'api-keys', title: 'New API Key', body, form });
}

const permission = { read: 'Read', write: 'Read and write' } as const;

async function showList(c: Context<ScreenEnv>, { db, secrets, publicUrl }: KeyScreenTools) {
  const owner = requireRole(c, 'owner');
  const { page, limit } = parsePage(c.req.queries());
  const all = await listKeys(db, owner.orgId);
  const keys = all.toSorted((one, other) => +isRevoked(one) - +isRevoked(other));
  const secret = v.safeParse(NewKey, takeOneTimeSecret(c, secrets, owner));
  const made = secret.success ? secret.output : null;
  const here = listPath(c);
  const body = (
    <>
      {made ? (
        <Secret title={`Copy the key “${made.name}” now`} label="Key" value={made.key} done={here}>
          <p>You won’t see it again.</p>
          <p class="sub">Send it in the X-API-Key header. For example:</p>
          <pre>{`curl -H 'X-API-Key: ${made.key}' '${publicUrl}/api/v1/surveys'`}</pre>
        </Secret>
      ) : null}
      <Part
        id="keys"
        title="API Keys"
        act={
          <LinkButton href={`${here}/new`} text="New API Key" kind={made ? undefined : 'primary'} />
        }
      >
        <p class="sub">
          {counted(keys.length, 'key')}. Anyone with a key can act on behalf of{' '}
          {c.var.organization.name}.
        </p>
        <PagedList
          meta={{ page, limit, total: keys.length }}
          at={(other) => `${here}?page=${other}`}
          empty={
            <EmptyState title="No keys yet" icon="key">
              <p>Create a key to read responses and send surveys from your own programs.</p>
            </EmptyState>
          }
        >
          <DataTable
            caption="API keys, newest first, revoked ones last"
            nowrap
            columns={[
              'Name',
              'Permission',
              { head: 'Last used', before: 'Used ' },
              { head: 'Created', phone: 'absent' },
              { head: 'Expires', before: 'Expiry: ' },
              { head: 'Actions', hidden: true, number: true },
            ]}
            rows={keys.slice((page - 1) * limit, page * limit).map((key) => ({
              current: key.id === made?.id,
              cells: cellsOf(key, here),
            }))}
          />
        </PagedList>
      </Part>
    </>
  );
  return renderSettings(c, { setting: 'api-keys', body });
}

const isRevoked = ({ revoked_at }: ListedKey) => revoked_at !== null;

function cellsOf(key: ListedKey, here: string) {
  return [
    <>
      <bdi>{key.name}</bdi>
      <span class="mono sub block">ask_live_{key.public_id}…</span>
    </>,
    permission[key.permission],
    <LastUsed at={key.last_used_at} />,
    <Time at={key.created_at} show="day" />,
    <Expiry {...key} />,
    isRevoked(key) ? null : (
      <LinkButton
        href={`${here}/${key.id}/revoke`}
        text="Revoke"
        about={key.name}
        kind="danger"
        mini
      />
    ),
  ];
}

function Expiry({ expires_at, revoked_at }: ListedKey) {
  if (revoked_at) return <State kind="skipped">Revoked</State>;
  if (!expires_at) return 'Never';
  if (expires_at.getTime() <= Date.now()) return <State kind="failed">Expired</State>;
  return <Time at={expires_at} show="day" />;
}
