import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { actorOf } from '../audit/acts.ts';
import { notFound } from '../errors.ts';
import { OneOf } from '../lib/cli/command.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import { nearLimitPercent } from '../limits.ts';
import { TimeZone } from '../organizations/manage.ts';
import { isKnownZone } from '../organizations/queries.ts';
import { requireRecentProof, requireRole, type ScreenEnv } from '../sessions/session.ts';
import { FormErrors, Part } from '../web/app/badges.tsx';
import { redirectWith } from '../web/app/flash.ts';
import {
  Checkbox,
  Choice,
  checkboxField,
  emptyForm,
  Field,
  type FormState,
  listField,
  optionalText,
  readForm,
  Select,
  Submit,
  statusOf,
  TimeZoneSelect,
  withFieldError,
} from '../web/app/forms.tsx';
import { renderSettings, settingPath } from '../web/app/settings-screen.tsx';
import {
  chooseNotifications,
  type Digest,
  digests,
  findChoices,
  findContents,
  type NotificationChoices,
  type NotificationContents,
  type NotificationKind,
  notificationKinds,
  setContents,
  slackKinds,
} from './choices.ts';
import { findSlackHook, removeSlackHook, type SlackHook, setSlackHook } from './slack.ts';

const Choices = v.object({
  events: listField(OneOf(notificationKinds)),
  digest: v.optional(OneOf(digests), 'none'),
  time_zone: TimeZone,
});

const Hook = v.object({
  url: optionalText(v.pipe(v.string(), v.maxLength(2000, 'must be at most 2000 characters'))),
  events: listField(OneOf(slackKinds)),
  digest: v.optional(OneOf(digests), 'none'),
});

const Contents = v.object({ people: checkboxField, unedited: checkboxField });

type NotificationScreenTools = {
  db: Db;
  secrets: Secrets;
  checkTarget: (url: string) => Promise<string | null>;
};

export const notificationScreens = (tools: NotificationScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showChoices(c, tools.db, {}))

    .post('/', async (c) => {
      const form = await readForm(c, Choices);
      if (form.errors) return showChoices(c, tools.db, { form });
      if (!(await isKnownZone(tools.db, form.values.time_zone))) {
        const time_zone = 'must be the name of a time zone such as Europe/Berlin';
        return showChoices(c, tools.db, { form: await withFieldError(c, { time_zone }) });
      }
      const member = { orgId: c.var.organization.id, memberId: c.var.member.id };
      await chooseNotifications(tools.db, { ...member, actor: actorOf(c) }, form.values);
      return back(c, 'Notifications saved.');
    })

    .post('/slack', async (c) => {
      const owner = requireRole(c, 'owner');
      requireRecentProof(c);
      const form = await readForm(c, Hook);
      if (form.errors) return showChoices(c, tools.db, { slack: form });
      const complaint = await setSlackHook(tools, owner, form.values);
      if (complaint === null) return back(c, 'Webhook saved.');
      return showChoices(c, tools.db, { slack: await withFieldError(c, { url: complaint }) });
    })

    .post('/contents', async (c) => {
      const owner = requireRole(c, 'owner');
      const form = await readForm(c, Contents);
      if (form.errors) return showChoices(c, tools.db, {});
      const { people = false, unedited = false } = form.values;
      await setContents(tools.db, owner, { people, unedited });
      return back(c, 'Notification contents saved.');
    })

    .post('/slack/remove', async (c) => {
      await removeSlackHook(tools.db, requireRole(c, 'owner'));
      return back(c, 'Webhook removed.');
    });

function back(c: Context<ScreenEnv>, text: string) {
  return redirectWith(c, settingPath(c.var.organization, 'notifications'), text);
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
        <p class="sub">
          Emails to {member.email} about {organization.name}. Only you can see and change these
          settings.
        </p>
        <ChoicesForm form={form} action={action} choices={choices} />
      </Part>
      {isOwner ? <SlackPart form={slack} action={`${action}/slack`} hook={hook} /> : null}
      {contents ? <ContentsPart action={`${action}/contents`} contents={contents} /> : null}
    </>
  );
  const status = statusOf({ ...form, errors: { ...form.errors, ...slack.errors } });
  return renderSettings(c, { setting: 'notifications', body, status });
}

type ChoicesFormProps = { form: FormState; action: string; choices: NotificationChoices };

function ChoicesForm({ form, action, choices }: ChoicesFormProps) {
  return (
    <form method="post" action={action} class="card stack measure">
      <FormErrors form={form} />
      <Choice
        name="events"
        label="Notify me when"
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
        help="Responses, the score and its change, and open detractors, at 9:00."
        options={digests.map((value) => ({ value, text: digestNames[value] }))}
      />
      <TimeZoneSelect
        name="time_zone"
        label="Time zone"
        form={form}
        value={choices.time_zone}
        help="Sets when your day and week begin."
        required
      />
      <div class="acts">
        <Submit>Save</Submit>
      </div>
    </form>
  );
}

const ContentsPart = ({ action, contents }: { action: string; contents: NotificationContents }) => (
  <Part id="contents" title="Notification contents">
    <p class="sub">
      Emails and the webhook show the survey, the score and an excerpt of the comment without names
      and addresses.
    </p>
    <form method="post" action={action} class="card stack narrow">
      <Checkbox
        name="people"
        label="Include the contact’s name and email"
        checked={contents.people}
      />
      <Checkbox name="unedited" label="Include unredacted comments" checked={contents.unedited} />
      <div class="acts">
        <button type="submit">Save contents</button>
      </div>
    </form>
  </Part>
);

const notificationNames = {
  detractor: 'A detractor responds',
  held: 'A response is put on hold',
  webhook_off: 'A webhook is turned off',
  limit_near: `${nearLimitPercent}% of the month’s emails are used`,
  limit_reached: 'All of the month’s emails are used',
  campaign_finished: 'A campaign finishes',
  campaign_paused: 'A campaign is paused because the mail server refuses it',
  assigned: 'A response is assigned to me',
} satisfies Record<NotificationKind, string>;

const digestNames = {
  none: 'No digest',
  day: 'Every day',
  week: 'Every week, on Monday',
} satisfies Record<Digest, string>;

type SlackPartProps = { form: FormState; action: string; hook: SlackHook | undefined };

/** The URL of the webhook is a secret and never shown again. */
const SlackPart = ({ form, action, hook }: SlackPartProps) => (
  <Part id="slack" title="Slack-compatible webhook">
    <p class="sub">Posts to a channel of Slack, Mattermost or a compatible program.</p>
    <form method="post" action={action} class="card stack measure">
      <FormErrors form={form} />
      <Field
        name="url"
        type="url"
        label="URL of the incoming webhook"
        form={form}
        help={
          hook
            ? 'A URL is saved, but not shown. Leave empty to keep it.'
            : 'Stored encrypted, and not shown again.'
        }
        autocomplete="off"
        required={!hook}
      />
      <Choice
        id="slack-events"
        name="events"
        label="Post when"
        form={form}
        several
        value={hook?.events ?? []}
        options={slackKinds.map((value) => ({ value, text: notificationNames[value] }))}
      />
      <Select
        id="slack-digest"
        name="digest"
        label="Digest"
        form={form}
        value={hook?.digest ?? 'none'}
        help="At 9:00 in the organization’s time zone."
        options={digests.map((value) => ({ value, text: digestNames[value] }))}
      />
      <div class="acts">
        <button type="submit">Save webhook</button>
      </div>
    </form>
    {hook ? (
      <form method="post" action={`${action}/remove`}>
        <div class="acts">
          <button type="submit" class="danger">
            Remove webhook
          </button>
        </div>
      </form>
    ) : null}
  </Part>
);
