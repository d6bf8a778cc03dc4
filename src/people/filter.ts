import * as v from 'valibot';
import { likePattern, type Part, type Sql } from '../lib/db/db.ts';
import { isUuid } from '../lib/validation/parse.ts';
import type { OrgId } from '../limits.ts';

const everyOp = ['is', 'is_not', 'contains', 'gt', 'lt', 'exists'] as const;
export type FilterOp = (typeof everyOp)[number];

/** One condition. Values are stored as text, except for `exists`. */
export type Condition = { field: string; op: FilterOp; value: string | boolean };
export type PeopleFilter = { all: Condition[] };

const maxConditions = 20;
const maxValueLength = 200;
const maxFieldLength = 210;
export const propertyPrefix = 'property.';

type FieldKind = 'text' | 'language' | 'number' | 'category' | 'id';

const opsOf: Readonly<Record<FieldKind, readonly FilterOp[]>> = {
  text: everyOp,
  language: ['is', 'is_not', 'contains', 'exists'],
  number: ['is', 'is_not', 'gt', 'lt', 'exists'],
  category: ['is', 'is_not', 'exists'],
  id: ['is', 'is_not', 'exists'],
};

/** Fields other than `property.NAME`. */
const filterFields = {
  language: 'language',
  last_asked_days: 'number',
  last_score: 'number',
  last_category: 'category',
  tag: 'id',
  survey_id: 'id',
} as const satisfies Record<string, FieldKind>;

export const filterCategories = ['promoter', 'passive', 'detractor'] as const;

const kindOf = (field: string): FieldKind | undefined => {
  if (field.startsWith(propertyPrefix)) return 'text';
  return Object.hasOwn(filterFields, field)
    ? filterFields[field as keyof typeof filterFields]
    : undefined;
};

export const opsOfField = (field: string): readonly FilterOp[] => {
  const kind = kindOf(field);
  return kind ? opsOf[kind] : [];
};

const Value = v.union(
  [v.string(), v.number(), v.boolean()],
  'must be text, a number, true or false',
);

const RawCondition = v.strictObject(
  {
    field: v.pipe(
      v.string('must be text'),
      v.maxLength(maxFieldLength, `must be at most ${maxFieldLength} characters`),
      v.description(`property.NAME, ${Object.keys(filterFields).join(', ')}`),
    ),
    op: v.picklist(everyOp, `must be one of ${everyOp.join(', ')}`),
    value: v.optional(v.nullable(Value)),
  },
  'must be an object with field, op and value',
);

const ConditionInput = v.pipe(
  RawCondition,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const complaint = complaintOf(dataset.value);
    if (complaint === undefined) return;
    const [key, message] = complaint;
    const { value: input } = dataset;
    const path = [{ type: 'object', origin: 'value', input, key, value: input[key] }] as const;
    addIssue({ message, path: path as never });
  }),
  v.transform(({ field, op, value }): Condition => {
    if (op === 'exists') return { field, op, value: `${value ?? true}` !== 'false' };
    return { field, op, value: String(value).trim() };
  }),
);

type Complaint = [part: 'field' | 'op' | 'value', reason: string];

function complaintOf(condition: v.InferOutput<typeof RawCondition>): Complaint | undefined {
  const { field, op, value } = condition;
  const kind = kindOf(field);
  if (!kind || field === propertyPrefix) {
    const names = Object.keys(filterFields).join(', ');
    return ['field', `${JSON.stringify(field)} is not a field: use property.NAME, ${names}`];
  }
  if (!opsOf[kind].includes(op)) {
    return ['op', `${op} does not apply to ${field}: use ${opsOf[kind].join(', ')}`];
  }
  if (op === 'exists') {
    const isBoolean = ['true', 'false'].includes(`${value ?? true}`);
    return isBoolean ? undefined : ['value', 'must be true or false'];
  }
  const text = String(value ?? '').trim();
  if (text === '') return ['value', 'a value is required'];
  if (text.length > maxValueLength)
    return ['value', `must be at most ${maxValueLength} characters`];
  if (!text.isWellFormed() || text.includes('\0')) return ['value', 'contains invalid characters'];
  if ((kind === 'number' || op === 'gt' || op === 'lt') && !numberForm.test(text)) {
    return ['value', `must be a number, because ${field} ${op} compares numbers`];
  }
  if (kind === 'category' && !(filterCategories as readonly string[]).includes(text)) {
    return ['value', `must be one of ${filterCategories.join(', ')}`];
  }
  if (kind === 'id' && !isUuid(text)) return ['value', 'must be a UUID'];
  return undefined;
}

/** Like the SQL function number_in. */
const numberForm = /^-?\d{1,30}(\.\d{1,30})?$/;

export const FilterInput = v.strictObject(
  {
    all: v.pipe(
      v.array(ConditionInput, 'must be a list of conditions'),
      v.maxLength(maxConditions, `must have at most ${maxConditions} conditions`),
      v.description('conditions that must all match; an empty list matches everybody'),
    ),
  },
  'must be an object with the list `all`',
);

export const Filter = v.object({
  all: v.array(
    v.object({
      field: v.string(),
      op: v.string(),
      value: v.pipe(
        v.union([v.string(), v.boolean()]),
        v.description('true or false for `exists`, else text'),
      ),
    }),
  ),
});

/** SQL condition: row `p` of people matches a filter. The caller limits rows to the organization. */
export const matchesFilter = (sql: Sql, orgId: OrgId, { all }: PeopleFilter): Part =>
  all
    .map((condition) => compile(sql, orgId, condition))
    .reduce((before, condition) => sql`${before} and ${condition}`, sql`true`);

function compile(sql: Sql, orgId: OrgId, { field, op, value }: Condition): Part {
  if (op === 'is_not') return sql`(${compile(sql, orgId, { field, op: 'is', value })}) is not true`;
  if (op === 'exists' && value === false) {
    return sql`(${compile(sql, orgId, { field, op, value: true })}) is not true`;
  }
  const text = String(value);
  if (field.startsWith(propertyPrefix)) {
    return propertyCondition(sql, field.slice(propertyPrefix.length), op, text);
  }
  switch (field as keyof typeof filterFields) {
    case 'language':
      return textCondition(sql, sql`p.language`, op, text);
    case 'last_asked_days':
      return askedCondition(sql, orgId, op, Number(text));
    case 'last_score':
      return compareNumber(sql, lastAnswer(sql, orgId, sql`r.score`), op, text);
    case 'last_category':
      return textCondition(sql, lastAnswer(sql, orgId, sql`r.category`), op, text);
    case 'tag':
      return sql`p.email_key in (
        select c.email_key
        from response_tags t
        join responses r on r.org_id = ${orgId} and r.id = t.response_id and r.held_reason is null
        join contacts c on c.org_id = ${orgId} and c.id = r.contact_id
        where t.org_id = ${orgId} ${op === 'is' ? sql`and t.tag_id = ${text}::uuid` : sql``})`;
    case 'survey_id':
      return sql`exists (
        select from contacts c
        where c.org_id = ${orgId} and c.email_key = p.email_key
          ${op === 'is' ? sql`and c.survey_id = ${text}::uuid` : sql``})`;
  }
}

/** Equality uses the index of properties. Filters store numbers and booleans as text, so both types are looked up. */
function propertyCondition(sql: Sql, name: string, op: FilterOp, text: string): Part {
  const property = sql`(p.properties ->> ${name}::text)`;
  if (op === 'gt' || op === 'lt') {
    const json = sql`(p.properties -> ${name}::text)`;
    const number = sql`case jsonb_typeof${json} when 'number' then ${json}::numeric else number_in(${property}) end`;
    return compareNumber(sql, number, op, text);
  }
  if (op !== 'is') return textCondition(sql, property, op, text);
  const values: unknown[] = [text];
  if (numberForm.test(text)) values.push(Number(text));
  if (text === 'true' || text === 'false') values.push(text === 'true');
  return values
    .map((value) => sql`p.properties @> ${JSON.stringify({ [name]: value })}::text::jsonb`)
    .reduce((before, condition) => sql`(${before} or ${condition})`);
}

/** `ilike` would lower the pattern once per row. */
function textCondition(sql: Sql, value: Part, op: FilterOp, text: string): Part {
  if (op === 'exists') return sql`${value} is not null`;
  return op === 'contains'
    ? sql`lower(${value}) like lower(${likePattern(text)}::text)`
    : sql`${value} = ${text}::text`;
}

/** A number that is null matches no comparison. */
function compareNumber(sql: Sql, number: Part, op: FilterOp, text: string): Part {
  if (op === 'exists') return sql`${number} is not null`;
  const operand = sql`${text}::text::numeric`;
  if (op === 'gt') return sql`${number} > ${operand}`;
  return op === 'lt' ? sql`${number} < ${operand}` : sql`${number} = ${operand}`;
}

/** A column of `r`, the latest response that is not on hold. */
const lastAnswer = (sql: Sql, orgId: OrgId, column: Part): Part => sql`(
  select ${column}
  from contacts c
  join responses r on r.org_id = ${orgId} and r.contact_id = c.id
  where c.org_id = ${orgId} and c.email_key = p.email_key and r.held_reason is null
  order by r.created_at desc, r.id desc
  limit 1)`;

const maxDays = 100_000;

/** Compares whole days since the latest survey email, without reminders. Semijoins let Postgres choose the plan. */
function askedCondition(sql: Sql, orgId: OrgId, op: FilterOp, days: number): Part {
  const asked = (condition: Part) => sql`exists (
    select from contacts c
    where c.org_id = ${orgId} and c.email_key = p.email_key and c.sent_at is not null and ${condition})`;
  const daysAgo = (many: number) => sql`now() - make_interval(secs => ${many * 86_400}::float8)`;
  const since = (many: number) => asked(sql`c.sent_at > ${daysAgo(many)}`);
  const whole = Math.floor(Math.max(-1, Math.min(days, maxDays)));
  if (op === 'exists') return asked(sql`true`);
  if (op === 'lt') return since(Number.isInteger(days) ? whole : whole + 1);
  if (op === 'gt') return sql`(${asked(sql`true`)} and not ${since(whole + 1)})`;
  if (whole !== days) return sql`false`;
  return sql`(${since(whole + 1)} and not ${since(whole)})`;
}
