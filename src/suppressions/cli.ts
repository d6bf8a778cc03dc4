import * as v from 'valibot';
import { commandWriter } from '../audit/acts.ts';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { notFound } from '../errors.ts';
import {
  type Command,
  columns,
  command,
  Email,
  id,
  OneOf,
  optional,
  Whole,
} from '../lib/cli/command.ts';
import { readList } from '../lib/paging/page.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { getOrganization } from '../organizations/queries.ts';
import { suppressionKinds } from './api.ts';
import { findSuppression, listSuppressions } from './queries.ts';
import { liftSuppression } from './unsubscribe.tsx';

const mostListed = 200;

type ListedSuppression = {
  id: string;
  email: string;
  kind: string;
  detail: string | null;
  created_at: string;
};

const list = command({
  name: 'suppression list',
  does: 'lists the addresses that get no mail of an organization, newest first',
  options: {
    org: id('the organization'),
    email: optional(Email, 'E', 'only this address'),
    kind: optional(OneOf(suppressionKinds), suppressionKinds.join('|'), 'only those of this kind'),
    limit: {
      schema: v.optional(Whole(1, mostListed), '50'),
      value: 'N',
      does: `how many, at most ${mostListed} (50)`,
    },
  },
  run: (tools: CommandTools, { org, email, kind, limit }) =>
    inDatabase(tools, async (db) => {
      await getOrganization(db, org);
      const query = { email: email && addressKey(email), kind, page: 1, limit, ignored: [] };
      const listed = listSuppressions(db, org, query);
      const { data } = await readList<ListedSuppression>(db, listed);
      const rows = data.map((row) => [row.id, row.created_at, row.kind, row.email, row.detail]);
      return { data, text: columns([['id', 'since', 'kind', 'email', 'detail'], ...rows]) };
    }),
});

const remove = command({
  name: 'suppression remove',
  does: 'lets an address get mail of an organization again',
  options: { id: id('which suppression') },
  run: (tools: CommandTools, { id: suppressionId }) =>
    inDatabase(tools, async (db) => {
      const found = await findSuppression(db, suppressionId);
      if (!found) throw notFound('suppression');
      await liftSuppression({ db }, commandWriter(found.org_id), suppressionId);
      const { email, kind } = found;
      return {
        data: { id: suppressionId, email, kind },
        text: `removed: ${email} is no longer suppressed as ${kind}`,
      };
    }),
});

export const suppressionCommands: readonly Command<CommandTools>[] = [list, remove];
