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

const keep = (what: string, most: number = maxDays) =>
  optional(Whole(0, most), 'N', `days after which ${what} are deleted; 0 for no such rule (0)`);

const settings = {
  'send-limit': optional(Whole(0, 999_999_999), 'N', 'the most mails in a calendar month (10000)'),
  'frequency-days': optional(
    Whole(0, 3650),
    'N',
    'days in which an address gets at most one survey; 0 for no such rule (0)',
  ),
  color: optional(Color, 'COLOR', 'the color of its pages and mails'),
  'time-zone': optional(TimeZone, 'ZONE', 'the time zone of its reports (UTC)'),
  language: optional(Language, 'TAG', 'the language of new surveys (en)'),
  'contact-email': optional(Email, 'E', 'the address shown on its pages'),
  'postal-address': optional(
    Lines,
    'TEXT',
    "the postal address at the foot of its mails; '' for none",
  ),
  'mail-foot': optional(Lines, 'TEXT', "words of its own at the foot of its mails; '' for none"),
  person: {
    schema: v.optional(v.array(Name)),
    value: 'NAME',
    does: 'a name to remove from comments before they are passed on',
    repeatable: true,
  },
  'keep-comments-days': keep('comments'),
  'keep-contacts-days': keep('contacts without activity'),
  'keep-openings-days': keep('visits of links', maxLogDays),
  'keep-mails-days': keep('entries of the mail log'),
  ai: flag('analyze comments, which new organizations do unless an endpoint is set'),
} as const satisfies Options;

const create = databaseCommand({
  name: 'org create',
  does: 'makes an organization',
  options: {
    name: option(Name, 'N', 'its name'),
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
    return answer(organization, 'made');
  },
});

const update = command({
  name: 'org update',
  does: "changes an organization's settings",
  options: {
    id: id('the organization'),
    name: optional(Name, 'N', 'its name'),
    slug: optional(Slug, 'SLUG', 'its name in the addresses of the app; the old one leads to it'),
    ...withoutDefaults(settings),
    logo: optional(v.string(), 'FILE', 'its logo: a PNG, JPEG or WebP of at most 256 KiB'),
    'no-logo': flag('remove its logo'),
    'no-ai': flag('do not analyze comments'),
  },
  async run(tools: CommandTools, values) {
    const { slug, logo, ai, 'no-ai': noAi, 'no-logo': noLogo } = values;
    if (ai && noAi) throw new UsageError('--ai and --no-ai contradict each other', update.usage);
    if (logo !== undefined && noLogo) {
      throw new UsageError('--logo and --no-logo contradict each other', update.usage);
    }
    const changes: OrganizationChange = settingsFrom(values);
    if (slug !== undefined) changes.slug = slug;
    if (noAi) changes.ai_enabled = false;
    if (noLogo) changes.logo = null;
    if (logo !== undefined) changes.logo = await readBytes(logo);
    if (Object.keys(changes).length === 0) {
      throw new UsageError('nothing to change was given', update.usage);
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
  does: "shows an organization's settings and how many mails it has sent this month",
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
  does: 'deletes an organization with everything that belongs to it, and prints the receipt',
  options: {
    id: id('the organization'),
    confirm: option(v.string(), 'NAME', 'its name, to confirm'),
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
