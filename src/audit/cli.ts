import * as v from 'valibot';
import { databaseCommand, orgOption } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { didYouMean, Moment, OneOf, optional } from '../lib/cli/command.ts';
import { actorKinds, acts } from './acts.ts';
import { exportEvents } from './export.ts';

const ActName = v.pipe(
  v.string(),
  v.check(
    (name) => Object.hasOwn(acts, name),
    ({ input }) => `must be an action such as key.created${didYouMean(input, Object.keys(acts))}`,
  ),
);

const exportCsv = databaseCommand({
  name: 'audit export',
  does: 'prints the audit log as CSV, newest first',
  options: {
    org: orgOption('the organization'),
    from: optional(Moment, 'ISO', 'only actions at or after this time'),
    to: optional(Moment, 'ISO', 'only actions before this time'),
    actor: optional(OneOf(actorKinds), actorKinds.join('|'), 'only actions of this kind of actor'),
    act: optional(ActName, 'NAME', 'only this action, such as key.created'),
  },
  async run(db, { org, from = null, to = null, actor = null, act = null }, { tools }) {
    if (from && to && to <= from) throw new Refusal('invalid', '--to must be after --from');
    const events = exportEvents(db, org, { from, to, actor, act });
    for await (const lines of events) tools.print(lines.trimEnd());
    return undefined;
  },
});

export const auditCommands = [exportCsv];
