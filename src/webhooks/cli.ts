import * as v from 'valibot';
import { commandWriter, type Writer } from '../audit/acts.ts';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { notFound } from '../errors.ts';
import {
  type Command,
  columns,
  command,
  id,
  Line,
  Moment,
  option,
  optional,
  optionalId,
} from '../lib/cli/command.ts';
import type { Db } from '../lib/db/db.ts';
import { createOutbound, type Outbound } from '../lib/outbound/post.ts';
import { warnWithoutJobs } from '../open-database.ts';
import { getOrganization } from '../organizations/queries.ts';
import { type Config, configuredSecrets } from '../settings.ts';
import { NewWebhook } from './api.ts';
import { createWebhook, testWebhook } from './manage.ts';
import { findOrganizationOfWebhook, listWebhooks } from './queries.ts';
import { replay } from './replay.ts';
import { retryKinds } from './rules.ts';

const longestDescription = 500;

const EventList = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((type) => type.trim())),
  NewWebhook.entries.events,
);

const create = command({
  name: 'webhook create',
  does: 'subscribes an address to events; its secret is shown once',
  options: {
    org: id('whose webhook it is'),
    url: option(NewWebhook.entries.url, 'URL', 'where events are posted to'),
    events: option(EventList, 'TYPES', 'event types, with commas between them'),
    description: optional(Line(longestDescription), 'TEXT', 'what it is for'),
    retries: optional(
      NewWebhook.entries.retries.wrapped,
      'KIND',
      `${retryKinds.join(' or ')}: how often a failed delivery is tried again`,
    ),
  },
  run: (tools: CommandTools, { org, url, events, description, retries }) =>
    inDatabase(tools, (db, config) =>
      withOutbound(config, async (outbound) => {
        const secrets = configuredSecrets(config, config.dataDir);
        const given = { db, secrets, judgeTarget: outbound.judge };
        const data = await createWebhook(given, commandWriter(org), {
          url,
          events,
          description,
          retries,
        });
        const text = `made the webhook ${data.id}\nits secret, shown only now: ${data.secret}`;
        return { data, text };
      }),
    ),
});

const test = command({
  name: 'webhook test',
  does: 'posts a test event to a webhook and shows the answer',
  options: { id: id('which webhook'), org: optionalId('only if this is its organization') },
  run: (tools: CommandTools, { org, id: webhookId }) =>
    inDatabase(tools, (db, config) =>
      withOutbound(config, async (outbound) => {
        const secrets = configuredSecrets(config, config.dataDir);
        const given = { db, secrets, outbound, settings: config };
        const writer = await writerOf(db, { id: webhookId, org });
        const data = await testWebhook(given, writer, { id: webhookId, traceparent: null });
        const answer = data.error ?? `status ${data.status_code}`;
        const outcome = data.delivered ? 'delivered' : 'not delivered';
        return { data, text: `${outcome}: ${answer}, after ${data.duration_ms} ms` };
      }),
    ),
});

const list = command({
  name: 'webhook list',
  does: "lists an organization's webhooks, newest first",
  options: { org: id('whose webhooks') },
  run: (tools: CommandTools, { org }) =>
    inDatabase(tools, async (db) => {
      await getOrganization(db, org);
      const webhooks = await listWebhooks(db, org);
      const rows = webhooks.map(({ id, active, failure_count, url, events }) => [
        id,
        active ? 'active' : 'inactive',
        String(failure_count),
        url,
        events.join(','),
      ]);
      const titles = ['id', 'state', 'failures', 'url', 'events'];
      return { data: webhooks, text: columns([titles, ...rows]) };
    }),
});

const replayCommand = command({
  name: 'webhook replay',
  does: 'delivers again what was skipped or failed since a time; the running service does the work',
  options: {
    id: id('which webhook'),
    org: optionalId('only if this is its organization'),
    since: option(Moment, 'ISO', 'from when on'),
  },
  run: (tools: CommandTools, { org, id: webhookId, since }) =>
    inDatabase(tools, async (db) => {
      const writer = await writerOf(db, { id: webhookId, org });
      const data = await replay({ db }, writer, { webhookId, since });
      const { replayed } = data;
      if (replayed > 0) await warnWithoutJobs(tools, db, 'the deliveries wait for it');
      const deliveries = replayed === 1 ? 'delivery is on its way' : 'deliveries are on their way';
      return { data, text: `${replayed} ${deliveries}` };
    }),
});

export const webhookCommands: readonly Command<CommandTools>[] = [
  create,
  test,
  list,
  replayCommand,
];

async function withOutbound<T>(
  { webhooks }: Config,
  work: (outbound: Outbound) => Promise<T>,
): Promise<T> {
  const outbound = createOutbound({ ...webhooks, perHostConnections: 1 });
  try {
    return await work(outbound);
  } finally {
    await outbound.close();
  }
}

async function writerOf(
  db: Db,
  webhook: { id: string; org?: string | undefined },
): Promise<Writer> {
  const orgId = webhook.org ?? (await findOrganizationOfWebhook(db, webhook.id));
  if (orgId === undefined) throw notFound('webhook');
  return commandWriter(orgId);
}
