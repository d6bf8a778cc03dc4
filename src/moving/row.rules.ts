import { type CheckedContact, checkContact, complaintOfLine } from '../contacts/rules.ts';
import { headerKey } from '../lib/cli/header-key.ts';
import { isLongerThan, longestComment, longestNote, mostTags } from '../limits.ts';
import { type Category, categoryOf, isScore, type SurveyType, scaleOf } from '../scores.ts';
import { readFileTime } from './file-time.rules.ts';
import type { FilePlan } from './plan.rules.ts';
import { type ExportColumnUse, surveyTypeNames } from './services.ts';

export type MovedResponse = {
  score: number;
  category: Category;
  comment: string | null;
  created_at: Date;
  tags: readonly string[];
  note: string | null;
  person: CheckedContact | null;
  /** Of a response without a person. */
  properties: Record<string, string> | null;
};

export type MovedSuppression = {
  email: string;
  kind: 'unsubscribed' | 'bounced';
  created_at: Date | null;
};

/** Why a row is understood and yet not taken over. */
export const reasonsToPass = ['unanswered', 'other type', 'without address', 'inactive'] as const;
export type PassReason = (typeof reasonsToPass)[number];

export type ReadRow =
  | { kind: 'response'; response: MovedResponse }
  | { kind: 'person'; person: CheckedContact }
  | { kind: 'suppression'; suppression: MovedSuppression }
  | { kind: 'passed'; reason: PassReason; word?: string }
  | { kind: 'unclear'; column: string; complaint: string };

type RowRules = { plan: FilePlan; type: SurveyType; zone: string; now: number };

/** What a row of an export says. */
export function readRow(cells: readonly string[], rules: RowRules): ReadRow {
  const row = rowReader(cells, rules);
  return rules.plan.kind === 'responses' ? readResponse(row, rules) : readPerson(row, rules);
}

type RowReader = ReturnType<typeof rowReader>;

function rowReader(cells: readonly string[], { plan, zone, now }: RowRules) {
  const at = (use: ExportColumnUse) => {
    const places = plan.places.get(use) ?? [];
    return places.find((place) => cells[place]?.trim()) ?? places[0];
  };
  const text = (use: ExportColumnUse) => cells[at(use) ?? -1]?.trim() || null;
  return {
    text,
    unclear: (use: ExportColumnUse, complaint: string): ReadRow => ({
      kind: 'unclear',
      column: plan.columns[at(use) ?? -1]?.name ?? use,
      complaint,
    }),
    time: (use: ExportColumnUse) => readFileTime(text(use) ?? '', { zone, now }),
    name: () =>
      text('name') ?? ([text('first name'), text('last name')].filter(Boolean).join(' ') || null),
    properties: () =>
      Object.fromEntries(
        plan.columns.flatMap(({ name, use }, place) => {
          const value = use === 'property' ? cells[place]?.trim() : '';
          return value ? [[name, value]] : [];
        }),
      ) as Record<string, string>,
  };
}

function readResponse(row: RowReader, { type }: RowRules): ReadRow {
  const named = row.text('type');
  if (named && surveyTypeNames[headerKey(named)] !== type) {
    return { kind: 'passed', reason: 'other type', word: named };
  }
  const given = row.text('score');
  if (given === null) return { kind: 'passed', reason: 'unanswered' };
  const score = /^\d+(\.0+)?$/.test(given) ? Number(given) : Number.NaN;
  const { lowest, highest } = scaleOf(type);
  if (!isScore(type, score)) {
    return row.unclear('score', `${quoted(given)} is no score from ${lowest} to ${highest}`);
  }
  const created_at = row.time('time');
  if (!created_at) return unclearTime(row, 'time');
  const comment = row.text('comment');
  if (comment && isLongerThan(comment, longestComment)) {
    return row.unclear('comment', `it has more than ${longestComment} characters`);
  }
  const note = row.text('note');
  if (note && isLongerThan(note, longestNote)) {
    return row.unclear('note', `it has more than ${longestNote} characters`);
  }
  const rest = withPerson(row);
  if ('kind' in rest) return rest;
  const tags = tagsOf(row.text('tags'));
  if (typeof tags === 'string') return row.unclear('tags', tags);
  const category = categoryOf(type, score);
  return {
    kind: 'response',
    response: { score, category, comment, created_at, note, tags, ...rest },
  };
}

/** A response without an address keeps the properties itself. */
function withPerson(row: RowReader) {
  const email = row.text('email');
  const properties = row.properties();
  if (email) {
    const person = readContact(row, email);
    return 'kind' in person ? person : { person, properties: null };
  }
  const some = Object.keys(properties).length > 0;
  return { person: null, properties: some ? properties : null };
}

function readPerson(row: RowReader, rules: RowRules): ReadRow {
  const email = row.text('email');
  if (!email) return { kind: 'passed', reason: 'without address' };
  const person = readContact(row, email);
  if ('kind' in person) return person;
  const kind = suppressionOf(row, rules);
  if (kind) {
    const created_at = row.time(kind) ?? null;
    const given = row.text(kind);
    if (given && !created_at && !isYes(given)) return unclearTime(row, kind);
    return { kind: 'suppression', suppression: { email: person.key, kind, created_at } };
  }
  return isInactive(row) ? { kind: 'passed', reason: 'inactive' } : { kind: 'person', person };
}

function suppressionOf(row: RowReader, { plan }: RowRules) {
  if (plan.kind === 'unsubscribed' || plan.kind === 'bounced') return plan.kind;
  const status = headerKey(row.text('status') ?? '');
  if (isSaid(row.text('unsubscribed')) || status.includes('unsubscribed')) return 'unsubscribed';
  if (isSaid(row.text('bounced')) || status.includes('hardbounce')) return 'bounced';
  return undefined;
}

/** Services write a time where it is true; where it is not nothing, a zero or a no. */
const isSaid = (text: string | null) => text !== null && !/^(0|no|false|null|never)$/i.test(text);
const isYes = (text: string) => /^(1|yes|true)$/i.test(text);

function isInactive(row: RowReader): boolean {
  const active = row.text('active');
  const status = headerKey(row.text('status') ?? '');
  return (active !== null && !isSaid(active)) || status === 'deactivated' || status === 'inactive';
}

function readContact(row: RowReader, email: string): CheckedContact | Unclear {
  const checked = checkContact({ email, name: row.name(), properties: row.properties() });
  if (!('complaint' in checked)) return checked;
  const use = checked.field === 'properties' ? 'left out' : checked.field;
  const unclear = row.unclear(use, complaintOfLine(checked, email)) as Unclear;
  return checked.field === 'properties' ? { ...unclear, column: 'properties' } : unclear;
}

type Unclear = Extract<ReadRow, { kind: 'unclear' }>;

const longestTagName = 200;

/** The tags of a cell, separated by commas or semicolons, or what is wrong with them. */
function tagsOf(text: string | null): readonly string[] | string {
  const names = (text ?? '').split(/[,;|]/).map((name) => name.trim());
  const tags = [...new Set(names.filter(Boolean))];
  if (tags.length > mostTags) return `it has more than ${mostTags} tags`;
  const long = tags.find((name) => isLongerThan(name, longestTagName));
  return long ? `a tag has more than ${longestTagName} characters` : tags;
}

function unclearTime(row: RowReader, use: ExportColumnUse): ReadRow {
  const given = row.text(use);
  return row.unclear(
    use,
    given ? `${quoted(given)} is no time such as 2024-03-01 10:00:00 UTC` : 'the time is missing',
  );
}

const longestShown = 80;
const quoted = (text: string) => JSON.stringify(text.slice(0, longestShown));
