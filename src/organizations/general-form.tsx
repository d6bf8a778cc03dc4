import { memoize } from '../lib/async/memoize.ts';
import { Field, Select, Tick } from '../web/app/fields.tsx';
import { Mistakes } from '../web/app/marks.tsx';
import type { FormState } from '../web/app/read-form.ts';
import { languages } from '../web/language.ts';
import { logoPath, logoTypes } from './logo.rules.ts';
import type { OrganizationRow } from './queries.ts';
import { retentions } from './retention.ts';

export type SettingsFormProps = {
  form: FormState;
  action: string;
  organization: OrganizationRow;
};

export function GeneralForm({ form, action, organization }: SettingsFormProps) {
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

export const PostalAddress = ({ form, organization }: PartProps) => (
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
export function LanguageSelect({ form, organization }: PartProps) {
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

export const nameOfLanguage = (tag: string): string => ownName({ tag });

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
