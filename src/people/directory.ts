import { recordAct, type Writer } from '../audit/acts.ts';
import { addressErased, isErasedAddress, listErased, violatesErasure } from '../contacts/erase.ts';
import { readContacts } from '../contacts/import.ts';
import { validateProperties } from '../contacts/rules.ts';
import { notFound, Refusal } from '../errors.ts';
import { exportRows, type ReplicaTools } from '../keys/read.ts';
import {
  type Db,
  inRetriedTransaction,
  inTransaction,
  json,
  likePattern,
  one,
  type Part,
  type Sql,
} from '../lib/db/db.ts';
import type { ExportColumn, ExportFormat } from '../lib/export/export.ts';
import { type IfMatch, refuseOtherVersion, versionOf } from '../lib/http/version.ts';
import { type Page, pagedJson } from '../lib/paging/page.ts';
import { addressKey } from '../lib/smtp/address.ts';
import type { OrgId } from '../limits.ts';
import { holdOffErasures } from '../surveys/queries.ts';
import type { PersonChange } from './api.ts';
import { matchesFilter, type PeopleFilter } from './filter.ts';
import { savePeople } from './save.ts';

export type Person = {
  id: string;
  email: string;
  name: string | null;
  properties: Record<string, unknown>;
  language: string | null;
  created_at: Date;
  updated_at: Date;
};

export type PeopleQuery = { search: string; filter: PeopleFilter };

/** People `p` that match a search and a filter. */
export const peopleRows = (sql: Sql, orgId: OrgId, { search, filter }: PeopleQuery): Part => sql`
  people p
  where p.org_id = ${orgId} ${isLike(sql, search)} and ${matchesFilter(sql, orgId, filter)}`;

/** The first condition uses the trigram index. The second rejects matches that span address and name. */
function isLike(sql: Sql, search: string): Part {
  if (search === '') return sql``;
  const pattern = likePattern(search);
  return sql`and p.email || ' ' || coalesce(p.name, '') ilike ${pattern}
             and (p.email ilike ${pattern} or p.name ilike ${pattern})`;
}

export const listPeopleJson = (sql: Sql, orgId: OrgId, page: Page, query: PeopleQuery): Part =>
  pagedJson(sql, page, {
    rows: peopleRows(sql, orgId, query),
    item: sql`cross join lateral (
      select p.id, p.email, p.name, p.properties, p.language, iso(p.created_at) as created_at,
             iso(p.updated_at) as updated_at
    ) item`,
  });

const columns = (sql: Sql) => sql`id, email, name, properties, language, created_at, updated_at`;

const previewed = 10;

export async function previewPeople(sql: Sql, orgId: string, filter: PeopleFilter) {
  const rows = peopleRows(sql, orgId, { search: '', filter });
  const [counts, people] = await Promise.all([
    sql<{ count: number }[]>`select count(*)::int as count from ${rows}`,
    sql<Person[]>`
      select ${columns(sql)} from ${rows}
      order by created_at desc, id desc
      limit ${previewed}`,
  ]);
  return { count: one(counts).count, people: [...people] };
}

export async function findPersonByEmail(sql: Sql, orgId: string, email: string) {
  const [person] = await sql<Person[]>`
    select ${columns(sql)} from people where org_id = ${orgId} and email_key = ${addressKey(email)}`;
  return person;
}

type Change = { email: string; how: 'put' | 'patch'; input: PersonChange; ifMatch?: IfMatch };

/**
 * Changes a person. `put` adds a missing person and replaces the properties. `patch` merges the properties. A property
 * `language` sets the language, unless the input sets the language itself. Contacts do not change.
 */
export async function changePerson(
  { db }: { db: Db },
  writer: Writer,
  { email, how, input, ifMatch }: Change,
): Promise<Person> {
  const { orgId, actor } = writer;
  const key = addressKey(email);
  return await inTransaction(db, async (tx) => {
    await holdOffErasures(tx, orgId);
    if (how === 'put' && (await isErasedAddress(tx, orgId, key))) throw addressErased();
    const [before] = await tx<Person[]>`
      select ${columns(tx)} from people
      where org_id = ${orgId} and email_key = ${key}
      for no key update`;
    if (!before && how === 'patch') throw notFound('person');
    const { name, properties, language } = mergePerson(before, input, how);
    refuseOtherVersion(versionOfPerson(before ?? blank), ifMatch);
    const complaint = validateProperties(properties);
    if (complaint) {
      throw new Refusal('invalid', `properties: together with the existing ones, ${complaint}`);
    }
    const person = one(
      await tx<Person[]>`
        insert into people (org_id, email, name, properties, language)
        values (${orgId}, ${email}, ${name}, ${json(tx, properties)}, ${language})
        on conflict (org_id, email_key) do update
          set name = excluded.name, properties = excluded.properties, language = excluded.language,
              updated_at = now()
        returning ${columns(tx)}`.catch((error: unknown) => {
        throw violatesErasure(error) ? addressErased() : error;
      }),
    );
    const target = { kind: 'person', id: person.id };
    const details = { added: !before };
    await recordAct(tx, { orgId, actor, act: 'person.saved', target, details });
    return person;
  });
}

const blank = { name: null, properties: {}, language: null };

export const versionOfPerson = (person: Pick<Person, 'name' | 'properties' | 'language'>) =>
  versionOf(person, ['name', 'properties', 'language']);

function mergePerson(before: Person | undefined, input: PersonChange, how: 'put' | 'patch') {
  const added = input.properties ?? {};
  const existing = before?.properties ?? {};
  const isReplaced = how === 'put' && input.properties !== undefined;
  const spoken = added['language'];
  const language = typeof spoken === 'string' ? spoken.trim().slice(0, 35) || undefined : undefined;
  return {
    name: input.name === undefined ? (before?.name ?? null) : input.name,
    properties: isReplaced ? added : { ...existing, ...added },
    language:
      input.language === undefined ? (language ?? before?.language ?? null) : input.language,
  };
}

const peoplePerBatch = 1000;

type ImportTools = { db: Db; onProgress?: (done: number, total: number) => void };

/** Imports the people of a CSV file, all or none. Erased people are skipped and counted. */
export async function importPeople(
  { db, onProgress = () => {} }: ImportTools,
  { orgId, actor }: Writer,
  text: string,
) {
  const imported = await readContacts(text);
  // Sorted by address, so that two imports of the same people do not deadlock.
  imported.sort((one, other) => (one.key < other.key ? -1 : 1));
  return await inRetriedTransaction(db, async (tx) => {
    await holdOffErasures(tx, orgId);
    const keys = imported.map(({ key }) => key);
    const erased = await listErased(tx, orgId, keys);
    const people = imported.filter(({ key }) => !erased.has(key));
    for (let done = 0; done < people.length; done += peoplePerBatch) {
      await savePeople(tx, orgId, people.slice(done, done + peoplePerBatch));
      onProgress(Math.min(done + peoplePerBatch, people.length), people.length);
    }
    const counts = { people: people.length, erased: erased.size };
    const details = { people: counts.people };
    await recordAct(tx, { orgId, actor, act: 'people.imported', details });
    return counts;
  });
}

export const exportPeople = (
  tools: ReplicaTools,
  orgId: string,
  { format, ...query }: PeopleQuery & { format: ExportFormat },
) =>
  exportRows(tools, orgId, {
    format,
    columns: exportColumns,
    rows: (sql) => peopleRows(sql, orgId, query),
  });

const exportColumns = (sql: Sql): ExportColumn[] => [
  { name: 'id', value: sql`p.id` },
  { name: 'created_at', value: sql`iso(p.created_at)` },
  { name: 'updated_at', value: sql`iso(p.updated_at)` },
  { name: 'email', value: sql`p.email`, csv: 'text' },
  { name: 'name', value: sql`p.name`, csv: 'text' },
  { name: 'language', value: sql`p.language`, csv: 'text' },
  { name: 'properties', value: sql`p.properties`, csv: 'object' },
];
