import * as v from 'valibot';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { notFound, Refusal } from '../errors.ts';
import {
  type Command,
  columns,
  command,
  didYouMean,
  id,
  Moment,
  OneOf,
  optional,
  Whole,
} from '../lib/cli/command.ts';
import type { Db } from '../lib/db/db.ts';
import { readList } from '../lib/paging/page.ts';
import { actorKinds, acts, sentenceOf } from './acts.ts';
import { exportEvents } from './export.ts';
import { type AuditEventRow, type AuditFilter, hasOrganization, listEvents } from './queries.ts';

const mostListed = 200;

const ActName = v.pipe(
  v.string(),
  v.check(
    (name) => Object.hasOwn(acts, name),
    ({ input }) => `must be an act, such as key.created${didYouMean(input, Object.keys(acts))}`,
  ),
);

const filters = {
  org: id('the organization'),
  from: optional(Moment, 'ISO', 'only acts from this day or moment on'),
  to: optional(Moment, 'ISO', 'only acts before this day or moment'),
  actor: optional(OneOf(actorKinds), actorKinds.join('|'), 'only acts of such actors'),
  act: optional(ActName, 'NAME', 'only acts of this name, such as key.created'),
};

type FilterOptions = { from?: Date; to?: Date; actor?: AuditFilter['actor']; act?: string };

function filterOf({ from, to, actor, act }: FilterOptions): AuditFilter {
  if (from && to && to <= from) throw new Refusal('invalid', '--to must be after --from');
  return { from: from ?? null, to: to ?? null, actor: actor ?? null, act: act ?? null };
}

const list = command({
  name: 'audit list',
  does: 'lists what was changed in an organization, by which actor, newest first',
  options: {
    ...filters,
    limit: optional(Whole(1, mostListed), 'N', `how many, at most ${mostListed} (50)`),
  },
  run: (tools: CommandTools, { org, limit = 50, ...given }) =>
    inDatabase(tools, async (db) => {
      await refuseUnknown(db, org);
      const page = { page: 1, limit, ignored: [] };
      const listed = listEvents(db, org, { filter: filterOf(given as FilterOptions), page });
      const { data } = await readList<AuditEventRow>(db, listed);
      const rows = data.map((event) => [
        event.at,
        event.actor_kind,
        event.actor,
        sentenceOf(event.act),
        [event.target, event.target_id].filter(Boolean).join(' ') || null,
        event.request_id,
      ]);
      const head = ['time', 'kind', 'actor', 'act', 'target', 'request'];
      return { data, text: columns([head, ...rows]) };
    }),
});

const exportCsv = command({
  name: 'audit export',
  does: 'prints all of it as CSV',
  options: filters,
  run: (tools: CommandTools, { org, ...given }) =>
    inDatabase(tools, async (db) => {
      await refuseUnknown(db, org);
      const filter = filterOf(given as FilterOptions);
      for await (const lines of exportEvents(db, org, filter)) tools.print(lines.trimEnd());
      return undefined;
    }),
});

export const auditCommands: readonly Command<CommandTools>[] = [list, exportCsv];

async function refuseUnknown(db: Db, orgId: string) {
  if (!(await hasOrganization(db, orgId))) throw notFound('organization');
}
