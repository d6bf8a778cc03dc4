import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { Refusal, toSentence } from '../../errors.ts';
import { memoize } from '../../lib/async/memoize.ts';
import { Color, Email, Name, Whole } from '../../lib/cli/command.ts';
import type { Db } from '../../lib/db/db.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { Mistakes } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  emptyForm,
  Field,
  type FormState,
  optionalText,
  readForm,
  Select,
  Tick,
  ticked,
  withMistake,
} from '../../web/app/forms.tsx';
import { Facts } from '../../web/app/lists.tsx';
import { Part, renderSettings, settingPath } from '../../web/app/settings-screen.tsx';
import { languages } from '../../web/language.ts';
import { largestLogoBytes, logoPath, logoTypes } from '../logo.ts';
import {
  changeOrganization,
  Language,
  Lines,
  mostDays,
  mostDaysOfLogs,
  type OrganizationChange,
  retentions,
  Slug,
  TimeZone,
} from '../manage.ts';
import { getOrganization, type OrganizationRow } from '../queries.ts';

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
      return redirectWith(c, settingPath(done, 'general'), 'The settings are saved.');
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
      return redirectWith(c, settingPath(c.var.organization, 'texts'), 'The texts are saved.');
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
    return await withMistake(c, { [field]: toSentence(error.message) });
  }
}

type SettingsFormProps = {
  form: FormState;
  action: string;
  organization: OrganizationRow;
};

function GeneralForm({ form, action, organization }: SettingsFormProps) {
  return (
    <form method="post" action={action} enctype="multipart/form-data" class="fields measure">
      <Mistakes form={form} />
      <Look form={form} organization={organization} />
      <Reach form={form} organization={organization} />
      <Rules form={form} organization={organization} />
      <div class="actions">
        <button type="submit" class="primary">
          Save
        </button>
      </div>
    </form>
  );
}

type PartProps = Omit<SettingsFormProps, 'action'>;

function Look({ form, organization }: PartProps) {
  const { id, name, logo } = organization;
  const path = logoPath(id, logo);
  return (
    <>
      <Field name="name" label="Name" form={form} value={name} maxlength={200} required />
      <Field
        name="slug"
        label="Slug"
        form={form}
        value={organization.slug}
        help="Its name in the addresses of this app. The old one leads to the new one."
        maxlength={80}
        autocomplete="off"
        required
      />
      <Field
        name="color"
        label="Color"
        type="color"
        form={form}
        value={organization.color}
        help="For pages and mails; it is darkened or lightened where text would be hard to read."
      />
      {path ? (
        <p>
          <img class="logo" src={path} alt={`Logo of ${name}`} />
        </p>
      ) : null}
      <Field
        name="logo"
        label="Logo"
        type="file"
        form={form}
        accept={logoTypes.join(',')}
        help="PNG, JPEG or WebP, at most 256 KiB and 2,000 pixels wide and high."
      />
      {path ? <Tick name="remove_logo" label="Remove the logo" form={form} /> : null}
    </>
  );
}

function Reach({ form, organization }: PartProps) {
  return (
    <>
      <Field
        name="contact_email"
        label="Contact email"
        type="email"
        form={form}
        value={organization.contact_email}
        help="Notices about webhooks and reports go there."
        autocomplete="off"
      />
      <PostalAddress form={form} organization={organization} />
      <LanguageSelect form={form} organization={organization} />
      <Field
        name="time_zone"
        label="Time zone"
        form={form}
        value={organization.time_zone}
        help="The days and months of reports, such as Europe/Berlin."
        autocomplete="off"
        required
      />
    </>
  );
}

const PostalAddress = ({ form, organization }: PartProps) => (
  <Field
    name="postal_address"
    label="Postal address"
    form={form}
    value={organization.postal_address}
    help="At the foot of every mail. Many countries ask for it."
    rows={4}
    maxlength={500}
  />
);

/** Languages by their own names; one that pages and mails have no words in stays possible where it is set. */
function LanguageSelect({ form, organization }: PartProps) {
  const tags = [...new Set([...languages.keys(), organization.language])];
  return (
    <Select
      name="language"
      label="Language"
      form={form}
      value={organization.language}
      help="What new surveys begin with; each survey can have another one."
      options={tags.map((value) => ({ value, text: nameOfLanguage(value) }))}
    />
  );
}

const mostTags = 200;

/** Each name needs the words of its own language, which take long to find. */
const ownName = memoize(
  mostTags,
  ({ tag }: { tag: string }) => new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag,
);

const nameOfLanguage = (tag: string): string => ownName({ tag });

function Rules({ form, organization }: PartProps) {
  return (
    <>
      <Field
        name="frequency_days"
        label="Frequency days"
        type="number"
        form={form}
        value={organization.frequency_days}
        help="For so many days an address gets at most one survey. Empty for no such rule."
        min={0}
        max={3650}
        inputmode="numeric"
      />
      {retentions.map(({ setting, label, help, most }) => (
        <Field
          name={setting}
          label={label}
          type="number"
          form={form}
          value={organization[setting]}
          help={help}
          min={0}
          max={most}
          inputmode="numeric"
        />
      ))}
      <Field
        name="people"
        label="Known names"
        form={form}
        value={organization.people.join('\n')}
        help="One a line. They are removed from comments before anything else reads them."
        rows={4}
      />
      <Tick
        name="ai_enabled"
        label="Analyze comments"
        form={form}
        checked={organization.ai_enabled}
        help="Finds themes and sentiment, and writes a summary each month."
      />
    </>
  );
}

const mostPeople = 200;

/** Names, one a line. */
const People = v.pipe(
  v.optional(v.string(), ''),
  v.transform((text) =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
  v.maxLength(mostPeople, `must be at most ${mostPeople} names`),
  v.array(Name),
);

/** A field for a file that was left empty is sent as a file without a name. */
const Picture = v.pipe(
  v.optional(v.union([v.instance(File), v.string()])),
  v.transform((given) => (given instanceof File && given.size > 0 ? given : null)),
);

export const GeneralSettings = v.object({
  name: Name,
  slug: Slug,
  color: Color,
  logo: Picture,
  remove_logo: ticked,
  contact_email: optionalText(Email),
  postal_address: v.optional(Lines, ''),
  language: Language,
  time_zone: TimeZone,
  frequency_days: optionalText(Whole(0, 3650)),
  people: People,
  keep_comments_days: optionalText(Whole(0, mostDays)),
  keep_contacts_days: optionalText(Whole(0, mostDays)),
  keep_openings_days: optionalText(Whole(0, mostDaysOfLogs)),
  keep_mails_days: optionalText(Whole(0, mostDays)),
  ai_enabled: ticked,
});

const DefaultTexts = v.object({
  postal_address: v.optional(Lines, ''),
  mail_foot: v.optional(Lines, ''),
  language: Language,
});

/** What the form asks for. A new logo counts for more than the tick that removes the one so far. */
export async function changeFrom(
  form: v.InferOutput<typeof GeneralSettings>,
): Promise<OrganizationChange> {
  const { logo, remove_logo, ...change } = form;
  const file = logo ? new Uint8Array(await logo.arrayBuffer()) : null;
  return {
    ...change,
    frequency_days: form.frequency_days || null,
    keep_comments_days: form.keep_comments_days || null,
    keep_contacts_days: form.keep_contacts_days || null,
    keep_openings_days: form.keep_openings_days || null,
    keep_mails_days: form.keep_mails_days || null,
    ...(file && { logo: file }),
    ...(!file && remove_logo && { logo: null }),
  };
}
