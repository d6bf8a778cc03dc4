import { commandWriter } from '../audit/acts.ts';
import { databaseCommand, listCommand, organizationOf, orgOption } from '../command-tools.ts';
import { id, Moment, option } from '../lib/cli/command.ts';
import { warnWithoutJobs } from '../open-database.ts';
import { listWebhooks } from './queries.ts';
import { replay } from './replay.ts';

const list = listCommand({
  name: 'webhook list',
  does: "lists an organization's webhooks, newest first",
  options: { org: orgOption('the organization') },
  run: (db, { org }) => listWebhooks(db, org),
  head: ['id', 'state', 'failures', 'url', 'events'],
  cells: ({ id, active, failure_count, url, events }) => [
    id,
    active ? 'active' : 'inactive',
    failure_count,
    url,
    events.join(','),
  ],
});

const replayCommand = databaseCommand({
  name: 'webhook replay',
  does: 'replays skipped and failed deliveries since a time; the running service sends them',
  options: { id: id('the webhook'), since: option(Moment, 'ISO', 'the earliest time') },
  async run(db, { id, since }, { tools }) {
    const orgId = await organizationOf(db, { table: 'webhooks', id, noun: 'webhook' });
    const data = await replay({ db }, commandWriter(orgId), { webhookId: id, since });
    const { replayed } = data;
    if (replayed > 0) await warnWithoutJobs(tools, db, 'the deliveries wait for it');
    return { data, text: `${replayed} ${replayed === 1 ? 'delivery' : 'deliveries'} queued` };
  },
});

export const webhookCommands = [list, replayCommand];
