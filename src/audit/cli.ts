import * as v from 'valibot';
import { databaseCommand, listCommand, orgOption } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { didYouMean, Moment, OneOf, optional, Whole } from '../lib/cli/command.ts';
import { readList } from '../lib/paging/page.ts';
import { actorKinds, acts, sentenceOf } from './acts.ts';
import { exportEvents } from './export.ts';
import { type AuditEventRow, type AuditFilter, listEvents } from './queries.ts';

const maxListed = 200;

const ActName = v.pipe(
  v.string(),
  v.check(
    (name) => Object.hasOwn(acts, name),
    ({ input }) => `must be an action such as key.created${didYouMean(input, Object.keys(acts))}`,
  ),
);

const filters = {
  org: orgOption('the organization'),
  from: optional(Moment, 'ISO', 'only actions at or after this time'),
  to: optional(Moment, 'ISO', 'only actions before this time'),
  actor: optional(OneOf(actorKinds), actorKinds.join('|'), 'only actions of this kind of actor'),
  act: optional(ActName, 'NAME', 'only this action, such as key.created'),
};

type FilterOptions = { [Name in keyof AuditFilter]: AuditFilter[Name] | undefined };

function filterOf({ from = null, to = null, actor = null, act = null }: FilterOptions) {
  if (from && to && to <= from) throw new Refusal('invalid', '--to must be after --from');
  return { from, to, actor, act };
}

const list = listCommand({
  name: 'audit list',
  does: 'lists the audit log, newest first',
  options: {
    ...filters,
    limit: optional(Whole(1, maxListed), 'N', `number of entries, at most ${maxListed} (50)`),
  },
  async run(db, { org, limit = 50, ...filter }) {
    const page = { page: 1, limit, ignored: [] };
    const events = listEvents(db, org, { filter: filterOf(filter), page });
    return (await readList<AuditEventRow>(db, events)).data;
  },
  head: ['time', 'kind', 'actor', 'act', 'target', 'request'],
  cells: (event) => [
    event.at,
    event.actor_kind,
    event.actor,
    sentenceOf(event.act),
    [event.target, event.target_id].filter(Boolean).join(' ') || null,
    event.request_id,
  ],
});

const exportCsv = databaseCommand({
  name: 'audit export',
  does: 'prints the audit log as CSV',
  options: filters,
  async run(db, { org, ...filter }, { tools }) {
    for await (const lines of exportEvents(db, org, filterOf(filter))) tools.print(lines.trimEnd());
    return undefined;
  },
});

export const auditCommands = [list, exportCsv];
