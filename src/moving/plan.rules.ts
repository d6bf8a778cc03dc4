import { Refusal } from '../errors.ts';
import { headerKey } from '../lib/cli/header-key.ts';
import type { ExportColumnUse, FormerService, KnownColumns } from './services.ts';

export const fileKinds = ['responses', 'people', 'unsubscribed', 'bounced'] as const;
export type FileKind = (typeof fileKinds)[number];

export type PlannedColumn = { name: string; use: ExportColumnUse | 'property' };

/** What a file holds, and what each of its columns says. */
export type FilePlan = {
  kind: FileKind;
  columns: readonly PlannedColumn[];
  /** The places of the columns of each use, in the order in which they are asked. */
  places: ReadonlyMap<ExportColumnUse, readonly number[]>;
};

/** Reads the header row of an export. A file that is none is refused. */
export function planFile(
  service: FormerService,
  { header, line, as }: { header: readonly string[]; line: number; as: FileKind | undefined },
): FilePlan {
  refuseRepeated(header, line);
  const kind = as ?? kindOf(service, header, line);
  const known = kind === 'responses' ? service.responses : service.people;
  const places = placesOf(header, known);
  for (const needed of kind === 'responses' ? responseColumns : (['email'] as const)) {
    if (!places.has(needed)) throw missing(service, { needed, header, line });
  }
  const useAt = new Map([...places].flatMap(([use, at]) => at.map((place) => [place, use])));
  const columns = header.map(
    (name, place): PlannedColumn => ({
      name: name.trim(),
      use: useAt.get(place) ?? (name.trim() ? 'property' : 'left out'),
    }),
  );
  return { kind, columns, places };
}

const responseColumns = ['score', 'time'] as const;

function kindOf(service: FormerService, header: readonly string[], line: number): FileKind {
  if (placesOf(header, service.responses).has('score')) return 'responses';
  if (placesOf(header, service.people).has('email')) return 'people';
  const names = header.map((name) => JSON.stringify(name.trim())).join(', ');
  throw new Refusal(
    'invalid',
    `this is no export of ${service.name}: line ${line} names neither a column of scores nor one of email addresses, but ${names}. ${untouched}`,
  );
}

export const untouched = 'Nothing was imported';

function placesOf(header: readonly string[], known: KnownColumns) {
  const keys = header.map(columnKey);
  const found = Object.entries(known).flatMap(([use, names]) => {
    const places = names.map((name) => keys.indexOf(name)).filter((place) => place >= 0);
    return places.length > 0 ? [[use as ExportColumnUse, places] as const] : [];
  });
  return new Map(found);
}

/** `Created At (UTC)` is `createdat`: what stands in brackets is a remark. */
const columnKey = (name: string) => headerKey(name.replace(/\([^)]*\)/g, ''));

function missing(
  { name }: FormerService,
  { needed, header, line }: { needed: ExportColumnUse; header: readonly string[]; line: number },
) {
  const wanted = {
    score: 'the score of a response',
    time: 'the time of a response',
    email: 'the email address of a person',
  }[needed as 'score' | 'time' | 'email'];
  const names = header.map((each) => JSON.stringify(each.trim())).join(', ');
  return new Refusal(
    'invalid',
    `line ${line}: no column of this file says ${wanted}, as an export of ${name} does; it has ${names}. ${untouched}`,
  );
}

function refuseRepeated(header: readonly string[], line: number) {
  const seen = new Map<string, string>();
  for (const name of header) {
    const key = name.trim().toLowerCase();
    const other = key && seen.get(key);
    if (other) {
      const both = `${JSON.stringify(other)} and ${JSON.stringify(name.trim())}`;
      throw new Refusal('invalid', `line ${line}: two columns are named ${both}. ${untouched}`);
    }
    seen.set(key, name.trim());
  }
}
