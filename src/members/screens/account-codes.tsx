import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../../errors.ts';
import { clientAddress } from '../../lib/http/client-address.ts';
import { type MemberEnv, requireRecentProof } from '../../sessions/session.ts';
import { CopyButton } from '../../web/app/acts.tsx';
import { Field } from '../../web/app/fields.tsx';
import { Mistakes } from '../../web/app/marks.tsx';
import { emptyForm, type FormState, readForm, withMistake } from '../../web/app/read-form.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import { keepOnce, takeOnce } from '../../web/app/shown-once.ts';
import { QrCode } from '../../web/qr-code.tsx';
import { countProof } from '../attempts.ts';
import {
  beginCodes,
  pendingSecret,
  renewRecoveryCodes,
  switchCodesOff,
  switchCodesOn,
} from '../codes/codes.ts';
import { totpUrl, typedSecret } from '../codes/totp.rules.ts';
import {
  type AccountScreenTools,
  done,
  ownOf,
  showConfirm,
  accountTrail as trail,
} from './account-screen.tsx';
import { CodeForm } from './code.tsx';

const RecoveryShown = v.object({ codes: v.array(v.string()) });

/** `/account/codes`: switch one-time codes on and off. They are the second step of passwords. */
export const accountCodeScreens = (tools: AccountScreenTools) =>
  new Hono<MemberEnv>()
    .use(async (_, next) => {
      if (!tools.settings.signIn.byPassword) throw notFound('page');
      await next();
    })
    .post('/', async (c) => {
      requireRecentProof(c);
      await beginCodes(tools, c.var.member.id);
      return c.redirect('/account/codes/new', 303);
    })
    .get('/new', (c) => {
      requireRecentProof(c);
      return showNew(c, tools, emptyForm());
    })
    .post('/new', (c) => switchOn(c, tools))

    .get('/recovery', (c) => showRecovery(c, tools))
    .get('/renew', (c) => {
      requireRecentProof(c);
      return showConfirm(c, {
        title: 'Make new recovery codes',
        means: 'The recovery codes until now stop working.',
        action: '/account/codes/renew',
        button: 'New recovery codes',
      });
    })
    .post('/renew', async (c) => {
      requireRecentProof(c);
      return leadToRecovery(c, tools, await renewRecoveryCodes(tools, ownOf(c)));
    })

    .get('/off', (c) => {
      requireRecentProof(c);
      return showConfirm(c, {
        title: 'Switch one-time codes off',
        means:
          'Your password alone will sign you in. The key in your app and your recovery codes stop working.',
        action: '/account/codes/off',
        button: 'Switch off',
      });
    })
    .post('/off', async (c) => {
      requireRecentProof(c);
      await switchCodesOff(tools, ownOf(c));
      return done(c, 'One-time codes are off.');
    });

async function switchOn(c: Context<MemberEnv>, tools: AccountScreenTools) {
  requireRecentProof(c);
  const form = await readForm(c, CodeForm);
  if (form.errors) return await showNew(c, tools, form);
  const proof = { account: `code ${c.var.member.id}`, address: clientAddress(c) };
  const giveBack = await countProof(tools.db, proof);
  const codes = await switchCodesOn(tools, ownOf(c), form.values.code);
  if (!codes)
    return await showNew(
      c,
      tools,
      await withMistake(c, {
        code: 'This is not the code of this key. Check the clock of the phone, and try the next code.',
      }),
    );
  await giveBack();
  return leadToRecovery(c, tools, codes);
}

/** The codes are on one page, once: the cookie that carries them there is sealed for this member. */
function leadToRecovery(c: Context<MemberEnv>, { secrets }: AccountScreenTools, codes: string[]) {
  keepOnce(c, secrets, shownFor(c), { codes });
  return c.redirect('/account/codes/recovery', 303);
}

const shownFor = (c: Context<MemberEnv>) => ({ orgId: 'account', memberId: c.var.member.id });

/** Without a key that waits for its first code there is nothing to prove. */
async function showNew(c: Context<MemberEnv>, tools: AccountScreenTools, form: FormState) {
  const { id, email } = c.var.member;
  const secret = await pendingSecret(tools, id);
  if (!secret) return c.redirect('/account', 303);
  const { host } = new URL(tools.publicUrl);
  const body = (
    <div class="columns even">
      <section aria-labelledby="scan">
        <h2 id="scan">Scan this with your authenticator app</h2>
        <p class="soft">
          Any app for one-time codes will do. Where it cannot scan, type the key below into it.
        </p>
        <QrCode
          text={totpUrl({ secret, email, issuer: `askback ${host}` })}
          title="QR code of the key for the authenticator app"
        />
        <p>
          Key: <code id="key">{typedSecret(secret)}</code> <CopyButton from="key" />
        </p>
      </section>
      <form method="post" action="/account/codes/new" class="fields narrow">
        <Mistakes form={form} />
        <Field
          name="code"
          label="Code"
          form={form}
          help="The six digits that the app shows now. They prove that it has the key."
          inputmode="numeric"
          autocomplete="one-time-code"
          required
        />
        <div class="actions">
          <button type="submit" class="primary">
            Switch on
          </button>
        </div>
      </form>
    </div>
  );
  const status = Object.keys(form.errors).length > 0 ? 422 : 200;
  return renderScreen(c, { title: 'One-time codes', section: 'account', body, trail, status });
}

function showRecovery(c: Context<MemberEnv>, { secrets }: AccountScreenTools) {
  const shown = v.safeParse(RecoveryShown, takeOnce(c, secrets, shownFor(c)));
  if (!shown.success) return c.redirect('/account', 303);
  const body = (
    <section class="shown-once" aria-labelledby="codes">
      <h2 id="codes">Store your recovery codes</h2>
      <p>
        Each signs you in once without your phone. They are shown only now: store them where your
        password is not.
      </p>
      <pre id="recovery">{shown.output.codes.join('\n')}</pre>
      <div class="actions">
        <CopyButton from="recovery" />
        <a class="button primary" href="/account">
          I have stored them
        </a>
      </div>
    </section>
  );
  return renderScreen(c, { title: 'One-time codes are on', section: 'account', body, trail });
}
