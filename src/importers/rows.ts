import {
  type CheckedContact,
  checkRow,
  contactHeaders,
  describeRowError,
} from '../contacts/rules.ts';
import { Refusal } from '../errors.ts';
import { headerKey } from '../lib/cli/csv.ts';
import { isLongerThan, maxCommentLength, maxNoteLength, maxTagsOfResponse } from '../limits.ts';
import { type ImportedCells, isQuestion, questionText } from '../questions/import.ts';
import {
  type Category,
  categoryOf,
  isScore,
  isSurveyType,
  type SurveyType,
  typeFacts,
} from '../survey-types.ts';

export type ImportedResponse = {
  score: number;
  category: Category;
  comment: string | null;
  created_at: Date;
  tags: readonly string[];
  note: string | null;
  person: CheckedContact | null;
  properties: Record<string, string>;
  /** Answers to further questions, by the text of the question. */
  answers: ImportedCells;
};

export type ImportedSuppression = {
  email: string;
  kind: 'unsubscribed' | 'bounced';
  created_at: Date | null;
};

const reasonsToPass = ['unanswered', 'other type', 'without address', 'inactive'] as const;
export type PassReason = (typeof reasonsToPass)[number];

export type ReadRow =
  | { kind: 'response'; response: ImportedResponse }
  | { kind: 'person'; person: CheckedContact }
  | { kind: 'suppression'; suppression: ImportedSuppression }
  | { kind: 'passed'; reason: PassReason; word?: string }
  | { kind: 'unclear'; column: string; complaint: string };

type RowRules = { plan: FilePlan; type: SurveyType; zone: string; now: number };

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
    answers: () =>
      Object.fromEntries(
        plan.columns.flatMap(({ name, use }, place) => {
          const value = use === 'question' ? cells[place]?.trim() : '';
          return value ? [[questionText(name), value]] : [];
        }),
      ) as Record<string, string>,
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
  const typeName = row.text('type');
  if (typeName && surveyTypeOf(typeName) !== type) {
    return { kind: 'passed', reason: 'other type', word: typeName };
  }
  const text = row.text('score');
  if (text === null) return { kind: 'passed', reason: 'unanswered' };
  const score = /^\d+(\.0+)?$/.test(text) ? Number(text) : Number.NaN;
  const { lowest, highest } = typeFacts(type);
  if (!isScore(type, score)) {
    return row.unclear('score', `${quoted(text)} is not a score from ${lowest} to ${highest}`);
  }
  const created_at = row.time('time');
  if (!created_at) return unclearTime(row, 'time');
  const comment = row.text('comment');
  if (comment && isLongerThan(comment, maxCommentLength)) {
    return row.unclear('comment', `must be at most ${maxCommentLength} characters`);
  }
  const note = row.text('note');
  if (note && isLongerThan(note, maxNoteLength)) {
    return row.unclear('note', `must be at most ${maxNoteLength} characters`);
  }
  const rest = withPerson(row);
  if ('kind' in rest) return rest;
  const tags = tagsOf(row.text('tags'));
  if (typeof tags === 'string') return row.unclear('tags', tags);
  const category = categoryOf(type, score);
  return {
    kind: 'response',
    response: { score, category, comment, created_at, note, tags, answers: row.answers(), ...rest },
  };
}

/** A response keeps the properties of its own row, because later rows of the person may differ. */
function withPerson(row: RowReader) {
  const email = row.text('email');
  const properties = row.properties();
  const person = email ? readContact(row, email) : null;
  return person && 'kind' in person ? person : { person, properties };
}

function readPerson(row: RowReader, rules: RowRules): ReadRow {
  const email = row.text('email');
  if (!email) return { kind: 'passed', reason: 'without address' };
  const person = readContact(row, email);
  if ('kind' in person) return person;
  const kind = suppressionOf(row, rules);
  if (kind) {
    const created_at = row.time(kind) ?? null;
    const text = row.text(kind);
    if (text && !created_at && !isYes(text)) return unclearTime(row, kind);
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

/** Services write a time to mean yes. They write an empty value, zero or "no" to mean no. */
const isSaid = (text: string | null) => text !== null && !/^(0|no|false|null|never)$/i.test(text);
const isYes = (text: string) => /^(1|yes|true)$/i.test(text);

function isInactive(row: RowReader): boolean {
  const active = row.text('active');
  const status = headerKey(row.text('status') ?? '');
  return (active !== null && !isSaid(active)) || status === 'deactivated' || status === 'inactive';
}

function readContact(row: RowReader, email: string): CheckedContact | Unclear {
  const text = (column: string) => row.text(column.replace('_', ' ') as ExportColumnUse) ?? '';
  const checked = checkRow(text, row.properties());
  if (!('complaint' in checked)) return checked;
  return row.unclear(checked.field as ExportColumnUse, describeRowError(checked, email)) as Unclear;
}

type Unclear = Extract<ReadRow, { kind: 'unclear' }>;

const maxTagNameLength = 200;

function tagsOf(text: string | null): readonly string[] | string {
  const names = (text ?? '').split(/[,;|]/).map((name) => name.trim());
  const tags = [...new Set(names.filter(Boolean))];
  if (tags.length > maxTagsOfResponse) return `must be at most ${maxTagsOfResponse} tags`;
  const long = tags.find((name) => isLongerThan(name, maxTagNameLength));
  return long ? `each tag must be at most ${maxTagNameLength} characters` : tags;
}

function unclearTime(row: RowReader, use: ExportColumnUse): ReadRow {
  const text = row.text(use);
  return row.unclear(
    use,
    text ? `${quoted(text)} is not a time such as 2024-03-01 10:00:00 UTC` : 'the time is missing',
  );
}

const maxShownLength = 80;
const quoted = (text: string) => JSON.stringify(text.slice(0, maxShownLength));

const form =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?)? ?(z|utc|gmt|[+-]\d\d:?\d\d)?$/i;
const dayMs = 86_400_000;

/**
 * Parses a time of an export: Unix seconds, or a date with an optional time and offset. `zone` applies without an
 * offset. Undefined for anything else, and for times in the future.
 */
export function readFileTime(
  text: string,
  { zone, now }: { zone: string; now: number },
): Date | undefined {
  const time = /^\d{9,10}$/.test(text) ? Number(text) * 1000 : readCalendar(text, zone);
  return time === undefined || time > now + dayMs ? undefined : new Date(time);
}

function readCalendar(text: string, zone: string): number | undefined {
  const parts = form.exec(text);
  if (!parts) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', offset] = parts;
  try {
    const local = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
    const time = Temporal.PlainDateTime.from(local, { overflow: 'reject' });
    return time.toZonedDateTime(offset ? zoneOf(offset) : zone).epochMilliseconds;
  } catch {
    return undefined;
  }
}

const zoneOf = (offset: string) =>
  /^[a-z]/i.test(offset) ? 'UTC' : `${offset.slice(0, 3)}:${offset.slice(-2)}`;

export const fileKinds = ['responses', 'people', 'unsubscribed', 'bounced'] as const;
export type FileKind = (typeof fileKinds)[number];

export type PlannedColumn = { name: string; use: ExportColumnUse | 'property' | 'question' };

export type FilePlan = {
  kind: FileKind;
  columns: readonly PlannedColumn[];
  /** Column indexes of each use, in order of preference. */
  places: ReadonlyMap<ExportColumnUse, readonly number[]>;
};

export function planFile(
  service: FormerService,
  { header, line, as }: { header: readonly string[]; line: number; as: FileKind | undefined },
): FilePlan {
  refuseRepeated(header, line);
  const kind = as ?? kindOf(service, header, line);
  const columnNames = kind === 'responses' ? service.responses : service.people;
  const places = placesOf(header, columnNames);
  for (const needed of kind === 'responses' ? responseColumns : (['email'] as const)) {
    if (!places.has(needed)) throw missing(service, { needed, header, line });
  }
  const useAt = new Map([...places].flatMap(([use, at]) => at.map((place) => [place, use])));
  const columns = header.map(
    (name, place): PlannedColumn => ({
      name: name.trim(),
      use: useAt.get(place) ?? otherUse(name.trim(), kind === 'responses' && service.asksQuestions),
    }),
  );
  return { kind, columns, places };
}

function otherUse(name: string, asksQuestions: boolean | undefined) {
  if (name === '') return 'skipped';
  return asksQuestions && isQuestion(name) ? 'question' : 'property';
}

const responseColumns = ['score', 'time'] as const;

function kindOf(service: FormerService, header: readonly string[], line: number): FileKind {
  if (placesOf(header, service.responses).has('score')) return 'responses';
  if (placesOf(header, service.people).has('email')) return 'people';
  const names = header.map((name) => JSON.stringify(name.trim())).join(', ');
  throw new Refusal(
    'invalid',
    `this is not a ${service.name} export: line ${line} has no column for scores or email addresses, only ${names}. ${untouched}`,
  );
}

export const untouched = 'Nothing was imported';

function placesOf(header: readonly string[], columnNames: KnownColumns) {
  const keys = header.map(columnKey);
  const uses = Object.entries(columnNames).flatMap(([use, names]) => {
    const places = names
      .split(' ')
      .map((name) => keys.indexOf(name))
      .filter((place) => place >= 0);
    return places.length > 0 ? [[use as ExportColumnUse, places] as const] : [];
  });
  return new Map(uses);
}

/** `Created At (UTC)` becomes `createdat`. */
const columnKey = (name: string) => headerKey(name.replace(/\([^)]*\)/g, ''));

function missing(
  { name }: FormerService,
  { needed, header, line }: { needed: ExportColumnUse; header: readonly string[]; line: number },
) {
  const wanted = {
    score: 'scores',
    time: 'response times',
    email: 'email addresses',
  }[needed as 'score' | 'time' | 'email'];
  const names = header.map((each) => JSON.stringify(each.trim())).join(', ');
  return new Refusal(
    'invalid',
    `line ${line}: ${name} exports have a column for ${wanted}, but this file only has ${names}. ${untouched}`,
  );
}

function refuseRepeated(header: readonly string[], line: number) {
  const seen = new Map<string, string>();
  for (const name of header) {
    const key = name.trim().toLowerCase();
    const other = key && seen.get(key);
    if (other) {
      const both = `${JSON.stringify(other)} and ${JSON.stringify(name.trim())}`;
      throw new Refusal(
        'invalid',
        `line ${line}: two columns have the same name, ${both}. ${untouched}`,
      );
    }
    seen.set(key, name.trim());
  }
}

/** Uses of an export's columns. Other columns become properties. */
type ExportColumnUse =
  | ('email' | 'name' | 'first name' | 'last name' | 'score' | 'time' | 'comment' | 'type')
  | ('tags' | 'note' | 'unsubscribed' | 'bounced' | 'status' | 'active' | 'skipped');

/** Column names by use, in lower case without punctuation. The first filled column counts. */
type KnownColumns = Readonly<Partial<Record<ExportColumnUse, string>>>;

export type FormerService = {
  name: string;
  responses: KnownColumns;
  people: KnownColumns;
  /** Columns such as `question:TEXT` hold answers to further questions. */
  asksQuestions?: boolean;
};

const person: KnownColumns = {
  email: contactHeaders.email.join(' '),
  name: contactHeaders.name.join(' '),
  'first name': contactHeaders.first_name.join(' '),
  'last name': contactHeaders.last_name.join(' '),
};

export const delighted: FormerService = {
  name: 'Delighted',
  asksQuestions: true,
  responses: {
    ...person,
    score: 'score surveyscore responsescore rating',
    time: 'createdat respondedat surveyrespondedat responsecreatedat responsetime responsedate submittedat timestamp date',
    comment: 'comment comments surveycomment responsecomment',
    type: 'surveytype type',
    tags: 'tags tag responsetags',
    note: 'notes note',
    skipped:
      'id responseid surveyresponseid personid permalink updatedat surveysentat sentat surveyid surveyname project',
  },
  people: {
    ...person,
    unsubscribed: 'unsubscribedat unsubscribed unsubscribedon dateunsubscribed',
    bounced: 'bouncedat bounced bouncedon datebounced',
    skipped:
      'id personid createdat updatedat lastsentat lastsurveysentat lastrespondedat nextsurveyscheduledat nextsurveyat sendat',
  },
};

export const askNicely: FormerService = {
  name: 'AskNicely',
  responses: {
    ...person,
    score: 'answer score npsscore rating',
    time: 'responded respondedat respondedtime responsetime responsedate',
    comment: 'comment comments feedback',
    type: 'questiontype surveytype metric',
    tags: 'tags tag',
    note: 'note notes',
    skipped:
      'id responseid personid contactid answerlabel data status dontcontact sent opened lastemailed created published publishedname publishedavatar caseclosedtime deliverymethod',
  },
  people: {
    ...person,
    unsubscribed: 'unsubscribetime unsubscribedat unsubscribedtime unsubscribed',
    status: 'status state',
    active: 'active isactive',
    skipped: 'id contactid personid created lastemailed scheduled importedattime importedat',
  },
};

/** A file of any other service. */
export const otherService: FormerService = {
  name: 'CSV',
  asksQuestions: true,
  responses: {
    ...person,
    score: 'score rating npsscore nps csat ces stars',
    time: 'createdat created respondedat submittedat completedat finishedat timestamp date time responsedate',
    comment: 'comment comments feedback reason',
    type: 'surveytype type',
    tags: 'tags tag',
    note: 'notes note',
    skipped: 'id responseid',
  },
  people: {
    ...person,
    unsubscribed: 'unsubscribedat unsubscribed optedout optedoutat',
    bounced: 'bouncedat bounced',
    status: 'status',
    skipped: 'id createdat updatedat',
  },
};

export function surveyTypeOf(name: string): SurveyType | undefined {
  const key = headerKey(name);
  return isSurveyType(key) ? key : surveyTypeAliases[key];
}

/** Names that services use, spelled like column keys. */
const surveyTypeAliases: Readonly<Record<string, SurveyType>> = {
  enps: 'nps',
  smileys: 'csat',
  '5star': 'star5',
  fivestar: 'star5',
  starsfive: 'star5',
  stars: 'star5',
};
