import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { Name, OneOf } from '../lib/cli/command.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import { parsePage } from '../lib/paging/page.ts';
import { idParam } from '../lib/validation/parse.ts';
import { requireProvedOwner, requireRole, type ScreenEnv } from '../sessions/session.ts';
import { Confirm, FormErrors, Secret, State, Time } from '../web/app/badges.tsx';
import { redirectWith, setOneTimeSecret, takeOneTimeSecret } from '../web/app/flash.ts';
import {
  Choice,
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  readForm,
  Select,
  SubmitOrCancel,
  statusOf,
} from '../web/app/forms.tsx';
import { counted, DataTable, EmptyState, PagedList } from '../web/app/lists.tsx';
import { Part, renderSettings, settingPath } from '../web/app/settings-screen.tsx';
import { createKey, getKey, revokeKey } from './manage.ts';
import { type ListedKey, pageOfKeys } from './queries.ts';
import { expiryChoices, expiryOf, expiryState } from './rules.ts';

type KeyScreenTools = { db: Db; secrets: Secrets; publicUrl: string };

const NewKeyForm = v.object({
  name: Name,
  permission: v.optional(OneOf(['read', 'write']), 'read'),
  expires: v.optional(OneOf(expiryChoices), 'never'),
});

/** The key that was just created. Its text is never known again. */
const MadeKey = v.object({ id: v.string(), name: v.string(), key: v.string() });
type MadeKey = v.InferOutput<typeof MadeKey>;

/** Settings, API Keys: below `/o/:slug/settings/api-keys`, for owners. */
export const keyScreens = ({ db, secrets, publicUrl }: KeyScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', async (c) => {
      const { orgId, memberId } = requireRole(c, 'owner');
      const { page, limit } = parsePage(c.req.queries());
      const revoked = c.req.query('state') === 'revoked';
      const shown = await pageOfKeys(db, orgId, { revoked, page, limit });
      const made = v.safeParse(MadeKey, takeOneTimeSecret(c, secrets, { orgId, memberId }));
      const body = (
        <KeyList
          organization={c.var.organization}
          made={made.success ? made.output : null}
          {...{ ...shown, revoked, page, limit, publicUrl, now: new Date() }}
        />
      );
      return renderSettings(c, { setting: 'api-keys', body });
    })

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
      const { id, name, key } = await createKey(db, owner, { ...options, expires_at });
      setOneTimeSecret(c, secrets, owner, { id, name, key });
      return c.redirect(settingPath(c.var.organization, 'api-keys'), 303);
    })

    .get('/:id/revoke', async (c) => {
      const { orgId } = requireProvedOwner(c);
      const { id, name } = await getKey(db, orgId, idParam(c, 'key'));
      const list = settingPath(c.var.organization, 'api-keys');
      const title = `Revoke the key “${name}”`;
      const body = (
        <Part id="revoke" title={title}>
          <Confirm action={`${list}/${id}/revoke`} button="Revoke" cancel={list}>
            <p>
              What uses this key stops working at once: its very next request is refused. A revoked
              key cannot be made to work again; a new one takes its place.
            </p>
          </Confirm>
        </Part>
      );
      return showBelow(c, { title, body });
    })

    .post('/:id/revoke', async (c) => {
      const owner = requireProvedOwner(c);
      const { name } = await revokeKey(db, owner, idParam(c, 'key'));
      const list = settingPath(c.var.organization, 'api-keys');
      return redirectWith(c, list, `The key “${name}” is revoked.`);
    });

function showForm(c: Context<ScreenEnv>, form: FormState = emptyForm()) {
  const list = settingPath(c.var.organization, 'api-keys');
  const body = <KeyForm form={form} list={list} />;
  return showBelow(c, { title: 'New API Key', body, status: statusOf(form) });
}

function showBelow(
  c: Context<ScreenEnv>,
  page: { title: string; body: Child; status?: 200 | 422 },
) {
  const trail = [{ text: 'API Keys', href: settingPath(c.var.organization, 'api-keys') }];
  return renderSettings(c, { ...page, setting: 'api-keys', trail });
}

const expiry = {
  '30d': 'In 30 days',
  '90d': 'In 90 days',
  '365d': 'In a year',
  never: 'Never',
} as const;

function KeyForm({ form, list }: { form: FormState; list: string }) {
  return (
    <Part id="new" title="New API Key">
      <form method="post" action={list} class="fields narrow">
        <FormErrors form={form} />
        <Field
          name="name"
          label="Name"
          form={form}
          help="What will use it, such as “website”."
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
            { value: 'read', text: 'Read: sees everything, changes nothing' },
            { value: 'write', text: 'Read and write: also sends mails and changes webhooks' },
          ]}
        />
        <Select
          name="expires"
          label="Expires"
          form={form}
          help="After that day the key stops working."
          value="365d"
          options={expiryChoices.map((value) => ({ value, text: expiry[value] }))}
        />
        <SubmitOrCancel button="Create key" cancel={list} />
      </form>
    </Part>
  );
}

const permission = { read: 'Read', write: 'Read and write' } as const;

type KeyListProps = {
  organization: { name: string; slug: string };
  keys: readonly ListedKey[];
  total: number;
  revoked: boolean;
  page: number;
  limit: number;
  now: Date;
  publicUrl: string;
  made: MadeKey | null;
};

function KeyList(props: KeyListProps) {
  const { organization, keys, page, limit, total, revoked, made, now, publicUrl } = props;
  const here = settingPath(organization, 'api-keys');
  return (
    <>
      {made ? (
        <Secret title={`Copy the key “${made.name}” now`} label="Key" value={made.key} done={here}>
          <p>It is shown only once. askback keeps a hash, so that nothing can show it again.</p>
          <p class="small soft">Send it as the header X-API-Key. For example:</p>
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
        <p class="small soft">
          {counted(total, revoked ? 'revoked key' : 'key')}. Anyone who has one acts for{' '}
          {organization.name}.
        </p>
        <ul class="segments" aria-label="Keys">
          {[false, true].map((each) => (
            <li>
              <a
                href={each ? `${here}?state=revoked` : here}
                aria-current={each === revoked ? 'page' : undefined}
              >
                {each ? 'Revoked' : 'In use'}
              </a>
            </li>
          ))}
        </ul>
        <PagedList
          meta={{ page, limit, total }}
          at={(other) => `${here}?${revoked ? 'state=revoked&' : ''}page=${other}`}
          empty={
            <EmptyState title={revoked ? 'No key was revoked' : 'No key yet'}>
              {revoked ? null : (
                <p>Programs read answers and send surveys with a key. New API Key makes one.</p>
              )}
            </EmptyState>
          }
        >
          <DataTable
            caption="API keys, newest first"
            nowrap
            columns={[
              { head: 'Name' },
              { head: 'Permission' },
              { head: 'Last used' },
              { head: revoked ? 'Revoked' : 'Expires' },
              { head: 'Act', hidden: true, number: true },
            ]}
            rows={keys.map((key) => ({
              current: key.id === made?.id,
              cells: cellsOf(key, { here, now }),
            }))}
          />
        </PagedList>
      </Part>
    </>
  );
}

function cellsOf(key: ListedKey, { here, now }: { here: string; now: Date }) {
  return [
    <>
      <bdi>{key.name}</bdi>
      <span class="mono soft light block">ask_live_{key.public_id}…</span>
    </>,
    permission[key.permission],
    <>
      {key.last_used_at ? <Time at={key.last_used_at} show="ago" /> : 'never'}
      <span class="small soft block">
        created <Time at={key.created_at} show="ago" />
      </span>
    </>,
    key.revoked_at ? <Time at={key.revoked_at} show="ago" /> : <Expiry expiry={key} now={now} />,
    key.revoked_at ? null : (
      <LinkButton href={`${here}/${key.id}/revoke`} text="Revoke" about={key.name} kind="danger" />
    ),
  ];
}

function Expiry({ expiry: { expires_at }, now }: { expiry: ListedKey; now: Date }) {
  if (!expires_at) return 'never';
  const state = expiryState(expires_at, now);
  if (state === 'over') return <State kind="failed">expired</State>;
  const day = <Time at={expires_at} show="day" />;
  return state === 'near' ? <State kind="warning">{day}</State> : day;
}
