import { type CommandTools, inDatabase } from '../command-tools.ts';
import { type Command, columns, command } from '../lib/cli/command.ts';
import { id, Moment, option } from '../lib/cli/options.ts';
import { listWebhooks } from './queries.ts';
import { replayMissed } from './replay.ts';

const list = command({
  name: 'webhook list',
  does: "lists an organization's webhooks, newest first",
  options: { org: id('whose webhooks') },
  run: (tools: CommandTools, { org }) =>
    inDatabase(tools, async (db) => {
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

const replay = command({
  name: 'webhook replay',
  does: 'delivers again what was skipped or failed since a time; the running service does the work',
  options: {
    org: id('whose webhook it is'),
    id: id('which webhook'),
    since: option(Moment, 'ISO', 'from when on'),
  },
  run: (tools: CommandTools, { org, id: webhookId, since }) =>
    inDatabase(tools, async (db) => {
      const data = await replayMissed({ db, pump: () => {} }, org, { webhookId, since });
      return { data, text: `${data.replayed} deliveries are on their way` };
    }),
});

export const webhookCommands: readonly Command<CommandTools>[] = [list, replay];
