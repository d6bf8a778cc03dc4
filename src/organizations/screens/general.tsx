import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { Color, Email, Name, Whole } from '../../lib/cli/command.ts';
import type { Db } from '../../lib/db/db.ts';
import { type OwnerOf, requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { FormErrors, Part } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  Checkbox,
  checkboxField,
  emptyForm,
  Field,
  type FormState,
  optionalText,
  readForm,
  readVersion,
  Select,
  Submit,
  TimeZoneSelect,
  tryAction,
  Version,
} from '../../web/app/forms.tsx';
import { counted, Facts } from '../../web/app/lists.tsx';
import { renderSettings, settingPath } from '../../web/app/settings-screen.tsx';
import { languages } from '../../web/language.ts';
import { logoPath, logoTypes, maxLogoBytes } from '../logo.ts';
import {
  changeOrganization,
  Language,
  Lines,
  maxDays,
  maxLogDays,
  type OrganizationChange,
  retentions,
  Slug,
  TimeZone,
  versionOfOrganization,
} from '../manage.ts';
import { getOrganization, type OrganizationRow } from '../queries.ts';

/** Leaves room for a logo that is too large, so that the form can say so. */
const maxForm = 4 * maxLogoBytes;

type ScreenTools = { db: Db };

/** Settings, General: members see it, owners change it. */
export const generalScreens = (tools: ScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showGeneral(c, tools))
    .post('/', (c) =>
      save(c, tools, { setting: 'general', schema: GeneralSettings, show: showGeneral }),
    );

/** Settings, Texts, for owners. */
export const textScreens = (tools: ScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showTexts(c, tools))
    .post('/', (c) => save(c, tools, { setting: 'texts', schema: DefaultTexts, show: showTexts }));

type SettingsPage = {
  setting: 'general' | 'texts';
  schema: typeof GeneralSettings | typeof DefaultTexts;
  show: typeof showGeneral;
};

/** Shows the form with its errors if the change is refused or the settings changed meanwhile. */
async function save(c: Context<ScreenEnv>, { db }: ScreenTools, page: SettingsPage) {
  const { setting, schema, show } = page;
  const owner = requireRole(c, 'owner');
  const form = await readForm(c, schema, { largest: maxForm });
  if (form.errors) return await show(c, { db }, form);
  const change = { ...(await changeFrom(form.values)), ifMatch: await readVersion(c) };
  const saved = await tryAction(
    c,
    { slug_taken: 'slug', invalid_logo: 'logo', unknown_time_zone: 'time_zone' },
    () => changeOrganization(db, owner, change),
    await findStored(db, owner, Object.keys(schema.entries)),
  );
  if ('errors' in saved) return await show(c, { db }, saved);
  return redirectWith(c, settingPath(saved, setting), 'Settings saved.');
}

/** The stored settings of a form, in the format that its fields send. */
async function findStored(db: Db, { orgId }: OwnerOf, names: readonly string[]) {
  const organization = await getOrganization(db, orgId);
  const sent = { ...organization, ai_enabled: organization.ai_enabled ? 'on' : null };
  const fields = Object.entries(sent).filter(([name]) => names.includes(name) && name !== 'logo');
  return { version: versionOfOrganization(organization), fields: Object.fromEntries(fields) };
}

async function showGeneral(c: Context<ScreenEnv>, { db }: ScreenTools, form = emptyForm()) {
  const { id, role } = c.var.organization;
  const organization = await getOrganization(db, id);
  const body =
    role === 'owner' ? (
      <GeneralForm form={form} organization={organization} />
    ) : (
      <GeneralFacts organization={organization} />
    );
  return renderSettings(c, { setting: 'general', body, form });
}

async function showTexts(c: Context<ScreenEnv>, { db }: ScreenTools, form = emptyForm()) {
  const { orgId } = requireRole(c, 'owner');
  const props = { form, organization: await getOrganization(db, orgId) };
  const body = (
    <Part id="texts" title="Texts">
      <p class="sub">Shown at the end of all emails. To change the texts of a survey, edit it.</p>
      <SettingsForm {...props}>
        <Field
          {...setting(props, 'postal_address')}
          label="Postal address"
          help="Shown in the footer of every email. Required in many countries."
          rows={4}
          maxlength={500}
        />
        <Field
          {...setting(props, 'mail_foot')}
          label="Email footer"
          help="Your own text at the end of every email, such as how you got the address."
          rows={3}
          maxlength={500}
        />
      </SettingsForm>
    </Part>
  );
  return renderSettings(c, { setting: 'texts', body, form });
}

type SettingsFormProps = { form: FormState; organization: OrganizationRow; children?: Child };

const SettingsForm = ({ form, organization, children }: SettingsFormProps) => (
  <form method="post" enctype="multipart/form-data" class="stack measure">
    <FormErrors form={form} />
    <Version form={form} value={versionOfOrganization(organization)} />
    {children}
    <div class="acts">
      <Submit>Save</Submit>
    </div>
  </form>
);

function GeneralFacts({ organization: o }: { organization: OrganizationRow }) {
  const days = [frequencyRule, ...retentions].map(({ label, setting }) => {
    const value = o[setting];
    return [label.replace(' (days)', ''), value ? counted(value, 'day') : 'Not set'] as const;
  });
  return (
    <Part id="general" title="General">
      <p class="sub">Only owners of the organization can change these settings.</p>
      <Facts
        facts={[
          ['Name', <bdi>{o.name}</bdi>],
          ['Language', nameOfLanguage(o.language)],
          ['Time zone', o.time_zone],
          ...days,
          ['Analyze comments', o.ai_enabled ? 'On' : 'Off'],
        ]}
      />
    </Part>
  );
}

function GeneralForm(props: SettingsFormProps) {
  const { form, organization } = props;
  const logo = logoPath(organization.id, organization.logo);
  // Also offers the current language if pages and mails have no texts in it.
  const tags = [...new Set([...languages.keys(), organization.language])];
  return (
    <SettingsForm {...props}>
      <Group id="general" title="General">
        <div class="pair">
          <Field {...setting(props, 'name')} label="Name" maxlength={200} required />
          <Field
            {...setting(props, 'slug')}
            label="Slug"
            help="Used in URLs. Old links redirect."
            maxlength={80}
            autocomplete="off"
            required
          />
        </div>
        <div class="pair">
          <Select
            {...setting(props, 'language')}
            label="Language"
            help="The default for new surveys."
            options={tags.map((value) => ({ value, text: nameOfLanguage(value) }))}
          />
          <TimeZoneSelect
            {...setting(props, 'time_zone')}
            label="Time zone"
            help="Used in reports and schedules."
            required
          />
        </div>
        <Field
          {...setting(props, 'contact_email')}
          label="Contact email"
          type="email"
          help="Receives notices about webhooks."
          autocomplete="off"
        />
      </Group>
      <Group id="brand" title="Brand" sub="Shown on survey pages and in emails.">
        <Field
          {...setting(props, 'color')}
          label="Color"
          type="color"
          help="Adjusted where text would be hard to read."
        />
        {logo ? (
          <p>
            <img class="logo" src={logo} alt={`Logo of ${organization.name}`} />
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
        {logo ? <Checkbox name="remove_logo" label="Remove the logo" form={form} /> : null}
      </Group>
      <Group id="sending" title="Sending">
        <DaysFields {...props} rules={[frequencyRule]} />
      </Group>
      <Group id="comments" title="Comments">
        <Checkbox
          name="ai_enabled"
          label="Analyze comments"
          form={form}
          checked={organization.ai_enabled}
          help="Finds themes and sentiment, and creates a monthly summary."
        />
        <Field
          name="people"
          label="Names to redact"
          form={form}
          value={organization.people.join('\n')}
          help="One per line. Removed from comments before analysis and webhooks."
          rows={4}
        />
      </Group>
      <Group id="retention" title="Retention" sub="Older data is deleted every night.">
        <div class="grid half">
          <DaysFields {...props} rules={retentions} />
        </div>
      </Group>
    </SettingsForm>
  );
}

type GroupProps = { id: string; title: string; sub?: string; children?: Child };

/** A section of a form with an anchor for links. */
const Group = ({ id, title, sub, children }: GroupProps) => (
  <section class="card stack" aria-labelledby={id}>
    <div>
      <h2 id={id}>{title}</h2>
      {sub ? <p class="sub">{sub}</p> : null}
    </div>
    {children}
  </section>
);

type DayRule = Record<'label' | 'help', string> & { setting: RuleName; most: number };
type RuleName = 'frequency_days' | (typeof retentions)[number]['setting'];

const DaysFields = ({ rules, ...props }: SettingsFormProps & { rules: readonly DayRule[] }) =>
  rules.map(({ setting: name, label, help, most }) => (
    <Field
      {...setting(props, name)}
      label={label}
      help={help}
      type="number"
      min={0}
      max={most}
      inputmode="numeric"
    />
  ));

const frequencyRule: DayRule = {
  setting: 'frequency_days',
  label: 'Survey frequency (days)',
  help: 'Minimum days between surveys to the same person. Leave empty for no limit.',
  most: 3650,
};

const setting = <Name extends keyof OrganizationRow>(
  { form, organization }: SettingsFormProps,
  name: Name,
) => ({ name, form, value: organization[name] });

const nameOfLanguage = (tag: string): string =>
  new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;

const maxPeople = 200;

const People = v.pipe(
  v.optional(v.string(), ''),
  v.transform((text) =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
  v.maxLength(maxPeople, `must be at most ${maxPeople} names`),
  v.array(Name),
);

/** Browsers send an empty file field as an empty file. */
const Picture = v.pipe(
  v.optional(v.union([v.instance(File), v.string()])),
  v.transform((given) => (given instanceof File && given.size > 0 ? given : null)),
);

/** A number of days. 0 or empty turns the rule off. */
const DaysField = (max: number) =>
  v.pipe(
    optionalText(Whole(0, max)),
    v.transform((days) => days || null),
  );

const GeneralSettings = v.object({
  name: Name,
  slug: Slug,
  color: Color,
  logo: Picture,
  remove_logo: checkboxField,
  contact_email: optionalText(Email),
  language: Language,
  time_zone: TimeZone,
  frequency_days: DaysField(3650),
  people: People,
  keep_comments_days: DaysField(maxDays),
  keep_contacts_days: DaysField(maxDays),
  keep_openings_days: DaysField(maxLogDays),
  keep_mails_days: DaysField(maxDays),
  ai_enabled: checkboxField,
});

const DefaultTexts = v.object({
  postal_address: v.optional(Lines, ''),
  mail_foot: v.optional(Lines, ''),
});

async function changeFrom(
  values: v.InferOutput<typeof GeneralSettings> | v.InferOutput<typeof DefaultTexts>,
): Promise<OrganizationChange> {
  if ('mail_foot' in values) return values;
  const { logo, remove_logo, ...change } = values;
  if (logo) return { ...change, logo: new Uint8Array(await logo.arrayBuffer()) };
  return remove_logo ? { ...change, logo: null } : change;
}
