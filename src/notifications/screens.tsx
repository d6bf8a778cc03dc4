import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { actorOf } from '../audit/actor.ts';
import { notFound } from '../errors.ts';
import { OneOf } from '../lib/cli/options.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import { isKnownZone } from '../organizations/change.queries.ts';
import { TimeZone } from '../organizations/schemas.ts';
import { requireRecentProof, requireRole, type ScreenEnv } from '../sessions/session.ts';
import { Choice, Field, Select } from '../web/app/fields.tsx';
import { flash } from '../web/app/flash.ts';
import { Mistakes } from '../web/app/marks.tsx';
import {
  emptyForm,
  type FormState,
  optionalText,
  readForm,
  severalOf,
  ticked,
  withMistake,
} from '../web/app/read-form.ts';
import { Part, renderSettings, settingPath } from '../web/app/settings-screen.tsx';
import { chooseNotifications } from './choose.ts';
import { findContents } from './contents.queries.ts';
import { setContents } from './contents.ts';
import { ContentsPart } from './contents-part.tsx';
import { findChoices, type NotificationChoices } from './queries.ts';
import { digests, notificationKinds, slackKinds } from './rules.ts';
import { findSlackHook } from './slack.queries.ts';
import { removeSlackHook, setSlackHook } from './slack.ts';
import { digestNames, notificationNames, SlackPart } from './slack-part.tsx';

const Choices = v.object({
  events: severalOf(OneOf(notificationKinds)),
  digest: v.optional(OneOf(digests), 'none'),
  time_zone: TimeZone,
});

const Hook = v.object({
  url: optionalText(v.pipe(v.string(), v.maxLength(2000, 'must have at most 2000 characters'))),
  events: severalOf(OneOf(slackKinds)),
  digest: v.optional(OneOf(digests), 'none'),
});

const Contents = v.object({ people: ticked, unedited: ticked });

type NotificationScreenTools = {
  db: Db;
  secrets: Secrets;
  judgeTarget: (url: string) => Promise<string | null>;
};

/**
 * Settings, Notifications: a member's own, whatever its role, and for owners the webhook of the organization.
 * Below `/o/:slug/settings/notifications`.
 */
export const notificationScreens = (tools: NotificationScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showChoices(c, tools.db, {}))

    .post('/', async (c) => {
      const form = await readForm(c, Choices);
      if (form.errors) return showChoices(c, tools.db, { form });
      if (!(await isKnownZone(tools.db, form.values.time_zone))) {
        const mistaken = await withMistake(c, {
          time_zone: 'must be the name of a time zone such as Europe/Berlin',
        });
        return showChoices(c, tools.db, { form: mistaken });
      }
      const member = { orgId: c.var.organization.id, memberId: c.var.member.id };
      await chooseNotifications(tools.db, { ...member, actor: actorOf(c) }, form.values);
      return back(c, 'Your notifications are saved.');
    })

    .post('/slack', async (c) => {
      const owner = requireRole(c, 'owner');
      requireRecentProof(c);
      const form = await readForm(c, Hook);
      if (form.errors) return showChoices(c, tools.db, { slack: form });
      const { url, events, digest } = form.values;
      const wish = { url: url || null, events, digest };
      const complaint = await setSlackHook(tools, owner, wish);
      if (complaint === null) return back(c, 'The webhook is saved.');
      return showChoices(c, tools.db, { slack: await withMistake(c, { url: complaint }) });
    })

    .post('/contents', async (c) => {
      const owner = requireRole(c, 'owner');
      const form = await readForm(c, Contents);
      if (form.errors) return showChoices(c, tools.db, {});
      const { people = false, unedited = false } = form.values;
      await setContents(tools.db, owner, { people, unedited });
      return back(c, 'What notifications show is saved.');
    })

    .post('/slack/remove', async (c) => {
      await removeSlackHook(tools.db, requireRole(c, 'owner'));
      return back(c, 'The webhook is removed.');
    });

function back(c: Context<ScreenEnv>, text: string) {
  flash(c, { kind: 'fine', text });
  return c.redirect(settingPath(c.var.organization, 'notifications'), 303);
}

type ShownForms = { form?: FormState; slack?: FormState };

async function showChoices(
  c: Context<ScreenEnv>,
  db: Db,
  { form = emptyForm(), slack = emptyForm() }: ShownForms,
) {
  const { organization, member } = c.var;
  const choices = await findChoices(db, { orgId: organization.id, memberId: member.id });
  if (!choices) throw notFound('organization');
  const isOwner = organization.role === 'owner';
  const hook = isOwner ? await findSlackHook(db, organization.id) : undefined;
  const contents = isOwner ? await findContents(db, organization.id) : undefined;
  const action = settingPath(organization, 'notifications');
  const body = (
    <>
      <Part id="notifications" title="Notifications">
        <p class="small soft">
          Mails to {member.email} about {organization.name}. Only you see and change these choices.
        </p>
        <ChoicesForm {...{ form, action, choices }} />
      </Part>
      {isOwner ? <SlackPart form={slack} action={`${action}/slack`} hook={hook} /> : null}
      {contents ? (
        <ContentsPart form={emptyForm()} action={`${action}/contents`} contents={contents} />
      ) : null}
    </>
  );
  const mistakes = { ...form.errors, ...slack.errors };
  const status = Object.keys(mistakes).length > 0 ? 422 : 200;
  return renderSettings(c, { setting: 'notifications', body, status });
}

type ChoicesFormProps = { form: FormState; action: string; choices: NotificationChoices };

function ChoicesForm({ form, action, choices }: ChoicesFormProps) {
  return (
    <form method="post" action={action} class="fields narrow">
      <Mistakes form={form} />
      <Choice
        name="events"
        label="Notify me of"
        form={form}
        several
        value={choices.events}
        options={notificationKinds.map((value) => ({ value, text: notificationNames[value] }))}
      />
      <Select
        name="digest"
        label="Digest"
        form={form}
        value={choices.digest}
        help="The answers, the score and its change, and the detractors still open, at 9 in the morning."
        options={digests.map((value) => ({ value, text: digestNames[value] }))}
      />
      <Field
        name="time_zone"
        label="Time zone"
        form={form}
        value={choices.time_zone}
        help="When your day and week begin, such as Europe/Berlin."
        autocomplete="off"
        required
      />
      <div class="actions">
        <button type="submit" class="primary">
          Save
        </button>
      </div>
    </form>
  );
}
