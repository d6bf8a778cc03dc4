import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { actorOf } from '../audit/actor.ts';
import { notFound } from '../errors.ts';
import { OneOf } from '../lib/cli/options.ts';
import type { Db } from '../lib/db/db.ts';
import { TimeZone } from '../organizations/schemas.ts';
import type { ScreenEnv } from '../sessions/session.ts';
import { Choice, Field, Select } from '../web/app/fields.tsx';
import { flash } from '../web/app/flash.ts';
import { Mistakes } from '../web/app/marks.tsx';
import { emptyForm, type FormState, readForm, severalOf } from '../web/app/read-form.ts';
import { Part, renderSettings, settingPath } from '../web/app/settings-screen.tsx';
import { chooseNotifications } from './choose.ts';
import { findChoices, type NotificationChoices } from './queries.ts';
import { digests, notificationKinds } from './rules.ts';
import { notificationTexts as texts } from './screen-texts.ts';

const Choices = v.object({
  events: severalOf(OneOf(notificationKinds)),
  digest: v.optional(OneOf(digests), 'none'),
  time_zone: TimeZone,
});

/** Settings, Notifications: a member's own, whatever its role. Below `/o/:slug/settings/notifications`. */
export const notificationScreens = ({ db }: { db: Db }) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showChoices(c, db, emptyForm()))

    .post('/', async (c) => {
      const form = await readForm(c, Choices);
      if (form.errors) return showChoices(c, db, form);
      const member = { orgId: c.var.organization.id, memberId: c.var.member.id };
      await chooseNotifications(db, { ...member, actor: actorOf(c) }, form.values);
      flash(c, { kind: 'fine', text: texts.saved });
      return c.redirect(settingPath(c.var.organization, 'notifications'), 303);
    });

async function showChoices(c: Context<ScreenEnv>, db: Db, form: FormState) {
  const { organization, member } = c.var;
  const choices = await findChoices(db, { orgId: organization.id, memberId: member.id });
  if (!choices) throw notFound('organization');
  const action = settingPath(organization, 'notifications');
  const body = (
    <Part id="notifications" title={texts.title}>
      <p class="small soft">{texts.about(member.email, organization.name)}</p>
      <ChoicesForm {...{ form, action, choices }} />
    </Part>
  );
  const status = Object.keys(form.errors).length > 0 ? 422 : 200;
  return renderSettings(c, { setting: 'notifications', body, status });
}

type ChoicesFormProps = { form: FormState; action: string; choices: NotificationChoices };

function ChoicesForm({ form, action, choices }: ChoicesFormProps) {
  return (
    <form method="post" action={action} class="fields narrow">
      <Mistakes form={form} />
      <Choice
        name="events"
        label={texts.events}
        form={form}
        several
        value={choices.events}
        options={notificationKinds.map((value) => ({ value, text: texts.kinds[value] }))}
      />
      <Select
        name="digest"
        label={texts.digest}
        form={form}
        value={choices.digest}
        help={texts.digestHelp}
        options={digests.map((value) => ({ value, text: texts.digests[value] }))}
      />
      <Field
        name="time_zone"
        label="Time zone"
        form={form}
        value={choices.time_zone}
        help={texts.timeZone}
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
