import { type Context, Hono } from 'hono';
import { Refusal } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { requireRole, type ScreenEnv } from '../sessions/session.ts';
import { Field } from '../web/app/fields.tsx';
import { flash } from '../web/app/flash.ts';
import { Facts } from '../web/app/lists.tsx';
import { Mistakes } from '../web/app/marks.tsx';
import { emptyForm, type FormState, readForm, withMistake } from '../web/app/read-form.ts';
import { Part, renderSettings, settingPath } from '../web/app/settings-screen.tsx';
import {
  GeneralForm,
  LanguageSelect,
  nameOfLanguage,
  PostalAddress,
  type SettingsFormProps,
} from './general-form.tsx';
import { largestLogoBytes } from './logo.rules.ts';
import { changeOrganization, type OrganizationChange } from './manage.ts';
import { getOrganization, type OrganizationRow } from './queries.ts';
import { retentions } from './retention.ts';
import { changeFrom, DefaultTexts, GeneralSettings } from './settings-form.ts';

/** A form with a logo that is a little too large is still read, to say so. */
const largestForm = 4 * largestLogoBytes;

type ScreenTools = { db: Db };

/** Settings, General: members see it, owners change it. Below `/o/:slug/settings/general`. */
export const generalScreens = ({ db }: ScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showGeneral(c, { db }, emptyForm()))

    .post('/', async (c) => {
      const owner = requireRole(c, 'owner');
      const form = await readForm(c, GeneralSettings, { largest: largestForm });
      if (form.errors) return showGeneral(c, { db }, form);
      const change = await changeFrom(form.values);
      const done = await attempt(c, () => changeOrganization(db, owner, change));
      if ('errors' in done) return showGeneral(c, { db }, done);
      flash(c, { kind: 'fine', text: 'The settings are saved.' });
      return c.redirect(settingPath(done, 'general'), 303);
    });

async function showGeneral(c: Context<ScreenEnv>, { db }: ScreenTools, form: FormState) {
  const { id, role } = c.var.organization;
  const organization = await getOrganization(db, id);
  const action = settingPath(c.var.organization, 'general');
  const body = (
    <Part id="general" title="General">
      <p class="small soft">
        {role === 'owner'
          ? 'Contacts see the name, the color and the logo on pages and mails.'
          : 'Only owners of the organization change these.'}
      </p>
      {role === 'owner' ? (
        <GeneralForm form={form} action={action} organization={organization} />
      ) : (
        <GeneralFacts organization={organization} />
      )}
    </Part>
  );
  return renderSettings(c, { setting: 'general', body, status: statusOf(form) });
}

function GeneralFacts({ organization: o }: { organization: OrganizationRow }) {
  return (
    <Facts
      facts={[
        ['Name', <bdi>{o.name}</bdi>],
        ['Slug', o.slug],
        ['Color', o.color],
        ['Contact email', o.contact_email ?? 'none'],
        ['Postal address', o.postal_address ?? 'none'],
        ['Language', nameOfLanguage(o.language)],
        ['Time zone', o.time_zone],
        ['Frequency days', o.frequency_days ?? 'none'],
        ...retentions.map(({ setting, label }) => [label, o[setting] ?? 'none'] as const),
        ['Known names', o.people.join(', ') || 'none'],
        ['Analyze comments', o.ai_enabled ? 'on' : 'off'],
      ]}
    />
  );
}

/** Settings, Texts: below `/o/:slug/settings/texts`, for owners. */
export const textScreens = ({ db }: ScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showTexts(c, { db }, emptyForm()))

    .post('/', async (c) => {
      const owner = requireRole(c, 'owner');
      const form = await readForm(c, DefaultTexts);
      if (form.errors) return showTexts(c, { db }, form);
      await changeOrganization(db, owner, form.values as OrganizationChange);
      flash(c, { kind: 'fine', text: 'The texts are saved.' });
      return c.redirect(settingPath(c.var.organization, 'texts'), 303);
    });

async function showTexts(c: Context<ScreenEnv>, { db }: ScreenTools, form: FormState) {
  const { orgId } = requireRole(c, 'owner');
  const organization = await getOrganization(db, orgId);
  const action = settingPath(c.var.organization, 'texts');
  const body = (
    <Part id="texts" title="Texts">
      <p class="small soft">
        What every mail and every new survey of the organization begins with. A survey can have its
        own words.
      </p>
      <TextsForm {...{ form, action, organization }} />
    </Part>
  );
  return renderSettings(c, { setting: 'texts', body, status: statusOf(form) });
}

function TextsForm({ form, action, organization }: SettingsFormProps) {
  return (
    <form method="post" action={action} class="fields measure">
      <Mistakes form={form} />
      <PostalAddress form={form} organization={organization} />
      <Field
        name="mail_foot"
        label="Foot"
        form={form}
        value={organization.mail_foot}
        help="Your own words under every mail, such as how you came by the address."
        rows={3}
        maxlength={500}
      />
      <LanguageSelect form={form} organization={organization} />
      <div class="actions">
        <button type="submit" class="primary">
          Save
        </button>
      </div>
    </form>
  );
}

const statusOf = ({ errors }: FormState) => (Object.keys(errors).length > 0 ? 422 : 200);

const refusedFields: Readonly<Record<string, string>> = {
  invalid_logo: 'logo',
  unknown_time_zone: 'time_zone',
};

/** A refusal that belongs to one field stands at that field, with what was typed. */
async function attempt<T>(c: Context, act: () => Promise<T>) {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'slug_taken')
      return await withMistake(c, {
        slug: 'Another organization has this slug, or had it before.',
      });
    const field = refusedFields[error.code ?? ''];
    if (!field) throw error;
    const sentence = `${error.message[0]?.toUpperCase()}${error.message.slice(1)}.`;
    return await withMistake(c, { [field]: sentence });
  }
}
