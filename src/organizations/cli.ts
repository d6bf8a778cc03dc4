import * as v from 'valibot';
import { commandActor, commandWriter } from '../audit/acts.ts';
import { type CommandTools, databaseCommand, inDatabase, listCommand } from '../command-tools.ts';
import {
  Color,
  columns,
  command,
  Email,
  flag,
  id,
  Name,
  type Options,
  option,
  optional,
  UsageError,
  Whole,
  withoutDefaults,
} from '../lib/cli/command.ts';
import { readBytes } from '../lib/cli/files.ts';
import { inTransaction } from '../lib/db/db.ts';
import { deleteOrganization } from './delete.ts';
import {
  changeOrganization,
  createOrganization,
  Language,
  Lines,
  maxDays,
  maxLogDays,
  newOrganization,
  type OrganizationChange,
  Slug,
  TimeZone,
} from './manage.ts';
import {
  getOrganization,
  listOrganizations,
  type OrganizationRow,
  type OrganizationSettings,
  readUsage,
} from './queries.ts';

const retention = (data: string, max: number = maxDays) =>
  optional(Whole(0, max), 'N', `days after which ${data} are deleted; 0 for never (0)`);

const settings = {
  'send-limit': optional(Whole(0, 999_999_999), 'N', 'emails per calendar month (10000)'),
  'frequency-days': optional(
    Whole(0, 3650),
    'N',
    'minimum days between surveys to an address; 0 for no limit (0)',
  ),
  color: optional(Color, 'COLOR', 'the color of pages and emails'),
  'time-zone': optional(TimeZone, 'ZONE', 'the time zone of reports and schedules (UTC)'),
  language: optional(Language, 'TAG', 'the language of new surveys (en)'),
  'contact-email': optional(Email, 'E', 'the email that receives notices about webhooks'),
  'postal-address': optional(Lines, 'TEXT', "the postal address in email footers; '' for none"),
  'mail-foot': optional(Lines, 'TEXT', "a text for email footers; '' for none"),
  person: {
    schema: v.optional(v.array(Name)),
    value: 'NAME',
    does: 'a name to redact from comments before analysis and webhooks',
    repeatable: true,
  },
  'keep-comments-days': retention('comments'),
  'keep-contacts-days': retention('contacts without activity'),
  'keep-openings-days': retention('link visits', maxLogDays),
  'keep-mails-days': retention('entries of the email log'),
  ai: flag('analyze comments, which is the default unless an AI endpoint is set'),
} as const satisfies Options;

const create = databaseCommand({
  name: 'org create',
  does: 'creates an organization',
  options: {
    name: option(Name, 'N', 'the name'),
    ...settings,
    'no-ai': flag('do not analyze comments'),
  },
  async run(db, values, { config }) {
    const initial = { ...settingsFrom(values), ...(values['no-ai'] && { ai_enabled: false }) };
    const organization = await inTransaction(db, (tx) =>
      createOrganization(tx, commandActor(), {
        ...newOrganization(config),
        ...initial,
        name: values.name,
      }),
    );
    return answer(organization, 'created');
  },
});

const update = command({
  name: 'org update',
  does: "changes an organization's settings",
  options: {
    id: id('the organization'),
    name: optional(Name, 'N', 'the name'),
    slug: optional(Slug, 'SLUG', 'the name in URLs; the old one redirects'),
    ...withoutDefaults(settings),
    logo: optional(v.string(), 'FILE', 'the logo: a PNG, JPEG or WebP of at most 256 KiB'),
    'no-logo': flag('remove the logo'),
    'no-ai': flag('do not analyze comments'),
  },
  async run(tools: CommandTools, values) {
    const { slug, logo, ai, 'no-ai': noAi, 'no-logo': noLogo } = values;
    if (ai && noAi) throw new UsageError('--ai and --no-ai cannot be used together', update.usage);
    if (logo !== undefined && noLogo) {
      throw new UsageError('--logo and --no-logo cannot be used together', update.usage);
    }
    const changes: OrganizationChange = settingsFrom(values);
    if (slug !== undefined) changes.slug = slug;
    if (noAi) changes.ai_enabled = false;
    if (noLogo) changes.logo = null;
    if (logo !== undefined) changes.logo = await readBytes(logo);
    if (Object.keys(changes).length === 0) {
      throw new UsageError('no changes were given', update.usage);
    }
    return await inDatabase(tools, async (db) => {
      const organization = await changeOrganization(db, commandWriter(values.id), changes);
      return answer(organization, 'changed');
    });
  },
});

const list = listCommand({
  name: 'org list',
  does: 'lists the organizations, newest first',
  options: {},
  run: (db) => listOrganizations(db),
  head: ['id', 'name', 'created_at'],
  cells: ({ id, name, created_at }) => [id, name, created_at.toISOString()],
});

const show = databaseCommand({
  name: 'org show',
  does: "shows an organization's settings and its emails this month",
  options: { id: id('the organization') },
  async run(db, { id }) {
    const { people, ...organization } = await getOrganization(db, id);
    const { used: mails_this_month } = await readUsage(db, id);
    const rows = { ...organization, people: people.join(', ') || null, mails_this_month };
    const text = columns(
      Object.entries(rows).map(([name, value]) => [
        name.replaceAll('_', ' '),
        value instanceof Date ? value.toISOString() : value,
      ]),
    );
    return { data: { ...organization, people, mails_this_month }, text };
  },
});

const remove = databaseCommand({
  name: 'org delete',
  does: 'deletes an organization with all its data, and prints a receipt',
  options: {
    id: id('the organization'),
    confirm: option(v.string(), 'NAME', 'the name of the organization, to confirm'),
  },
  async run(db, { id, confirm }) {
    const receipt = await deleteOrganization(db, commandActor(), { id, confirm });
    const { members, surveys, contacts, responses } = receipt;
    const text = `deleted the organization ${receipt.name}: ${surveys} surveys, ${contacts} contacts, ${responses} responses, ${members} memberships`;
    return { data: receipt, text };
  },
});

export const organizationCommands = [create, update, list, show, remove];

/** Options whose column has another name. */
const renamed: Readonly<Record<string, string>> = {
  'send-limit': 'monthly_send_limit',
  person: 'people',
  ai: 'ai_enabled',
};

function settingsFrom(values: Readonly<Record<string, unknown>>): OrganizationSettings {
  const entries = ['name', ...Object.keys(settings)]
    .filter((option) => values[option] !== undefined && values[option] !== false)
    .map((option) => {
      const isOff = option.endsWith('-days') && values[option] === 0;
      return [renamed[option] ?? option.replaceAll('-', '_'), isOff ? null : values[option]];
    });
  return Object.fromEntries(entries);
}

const answer = (organization: OrganizationRow, done: string) => ({
  data: organization,
  text: `${done} the organization ${organization.name}: ${organization.id}`,
});
