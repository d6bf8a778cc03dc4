import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound, Refusal } from '../../errors.ts';
import { type MemberEnv, requireRecentProof } from '../../sessions/session.ts';
import { Field } from '../../web/app/fields.tsx';
import { flash } from '../../web/app/flash.ts';
import { Mistakes } from '../../web/app/marks.tsx';
import { emptyForm, type FormState, readForm } from '../../web/app/read-form.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import { deviceName } from '../account/device.rules.ts';
import { NameField } from '../forms.ts';
import { keepHandshake, takeHandshake } from '../handshake.ts';
import { readAttestation } from '../passkeys/answers.ts';
import {
  addPasskey,
  changePasskeyName,
  offerPasskey,
  removePasskey,
} from '../passkeys/passkeys.ts';
import { passkeyPlace } from '../passkeys/place.rules.ts';
import { listPasskeys } from '../passkeys/queries.ts';
import {
  type AccountScreenTools,
  done,
  ownOf,
  showConfirm,
  accountTrail as trail,
} from './account-screen.tsx';
import { PasskeyForm } from './passkey-form.tsx';

export const passkeysAbout =
  'A passkey signs you in with your finger, your face or a security key, without a password.';

const NewPasskeyForm = v.object({ name: NameField, credential: v.string() });
const RenameForm = v.object({ name: NameField });
const NewChallenge = v.object({ challenge: v.string(), adds: v.string() });

/** `/account/passkeys`: add, name and remove. */
export const accountPasskeyScreens = (tools: AccountScreenTools) =>
  new Hono<MemberEnv>()
    .get('/new', (c) => {
      placeOf(tools);
      requireRecentProof(c);
      return showNew(c, emptyForm());
    })
    .post('/options', async (c) => {
      requireRecentProof(c);
      const { db } = tools;
      const options = await offerPasskey({ db, place: placeOf(tools) }, c.var.member);
      const data = { challenge: options.challenge, adds: c.var.member.sessionId };
      keepHandshake(c, tools, { kind: 'passkey', data });
      c.header('Cache-Control', 'no-store');
      return c.json(options);
    })
    .post('/', (c) => add(c, tools))

    .get('/:id/name', async (c) => showName(c, await getPasskey(c, tools), emptyForm()))
    .post('/:id/name', async (c) => {
      const passkey = await getPasskey(c, tools);
      const form = await readForm(c, RenameForm);
      if (form.errors) return showName(c, passkey, form);
      await changePasskeyName(tools, ownOf(c), { id: passkey.id, name: form.values.name });
      return done(c, 'The passkey has a new name.');
    })

    .get('/:id/remove', async (c) => {
      requireRecentProof(c);
      const { id, name } = await getPasskey(c, tools);
      return showConfirm(c, {
        title: `Remove the passkey “${name}”`,
        means:
          'It signs you in no more. Delete it on the device as well, where it stays otherwise.',
        action: `/account/passkeys/${id}/remove`,
        button: 'Remove',
      });
    })
    .post('/:id/remove', async (c) => {
      requireRecentProof(c);
      try {
        await removePasskey(tools, ownOf(c), c.req.param('id'));
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== 'last_way_in') throw error;
        flash(c, { kind: 'failed', text: error.message });
        return c.redirect('/account', 303);
      }
      return done(c, 'The passkey is removed.');
    });

/** The browser's answer counts for the session that asked for it. */
async function add(c: Context<MemberEnv>, tools: AccountScreenTools) {
  requireRecentProof(c);
  const place = placeOf(tools);
  const kept = await takeHandshake(c, tools, { kind: 'passkey', data: NewChallenge });
  const form = await readForm(c, NewPasskeyForm);
  if (form.errors) return showNew(c, form, 422);
  const answer = readAttestation(form.values.credential);
  const isOurs = kept?.adds === c.var.member.sessionId;
  const given = answer && isOurs && { answer, challenge: kept.challenge, name: form.values.name };
  if (given && (await addPasskey({ db: tools.db, place }, ownOf(c), given))) {
    return done(c, 'The passkey is added. You can sign in with it from now on.');
  }
  flash(c, { kind: 'failed', text: 'The passkey was not accepted. Try again.' });
  return c.redirect('/account/passkeys/new', 303);
}

function showNew(c: Context, form: FormState, status: 200 | 422 = 200) {
  const body = (
    <div class="narrow">
      <Mistakes form={form} />
      <p class="soft">{passkeysAbout}</p>
      <PasskeyForm
        kind="create"
        action="/account/passkeys"
        options="/account/passkeys/options"
        button="Add a passkey"
        primary
      >
        <Field
          name="name"
          label="Name"
          form={form}
          value={deviceName(c.req.header('User-Agent') ?? null)}
          help="What you will know it by, such as the device it is on."
          required
        />
      </PasskeyForm>
    </div>
  );
  return renderScreen(c, { title: 'Add a passkey', section: 'account', body, trail, status });
}

type NamedPasskey = { id: string; name: string };

function showName(c: Context, { id, name }: NamedPasskey, form: FormState) {
  const body = (
    <form method="post" action={`/account/passkeys/${id}/name`} class="fields narrow">
      <Mistakes form={form} />
      <Field name="name" label="Name" form={form} value={name} required />
      <div class="actions">
        <button type="submit" class="primary">
          Save
        </button>
      </div>
    </form>
  );
  const status = Object.keys(form.errors).length > 0 ? 422 : 200;
  return renderScreen(c, { title: 'Rename', section: 'account', body, trail, status });
}

async function getPasskey(
  c: Context<MemberEnv>,
  { db }: AccountScreenTools,
): Promise<NamedPasskey> {
  const passkeys = await listPasskeys(db, c.var.member.id);
  const passkey = passkeys.find(({ id }) => id === c.req.param('id'));
  if (!passkey) throw notFound('passkey');
  return passkey;
}

function placeOf({ publicUrl }: AccountScreenTools) {
  const place = passkeyPlace(publicUrl);
  if (!place) throw notFound('page');
  return place;
}
