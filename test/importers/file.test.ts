import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  askNicely,
  delighted,
  type FileKind,
  type FormerService,
  planFile,
  readFileTime,
  readRow,
} from '../../src/importers/rows.ts';
import {
  maxCommentLength,
  maxNameLength,
  maxNoteLength,
  maxTagsOfResponse,
} from '../../src/limits.ts';

const now = Date.parse('2026-05-01T00:00:00Z');
const at = '2026-04-01 10:00:00 UTC';

type Given = { service?: FormerService; as?: FileKind };
const plan = (header: string[], { service = delighted, as }: Given = {}) =>
  planFile(service, { header, line: 4, as });
const read = (columns: Record<string, string>, given: Given = {}) =>
  readRow(Object.values(columns), {
    plan: plan(Object.keys(columns), given),
    zone: 'Europe/Berlin',
    now,
    type: 'nps',
  });

test('header determines the kind of file and its columns', () => {
  const columns = (header: string[], given?: Given) => {
    const planned = plan(header, given);
    return [planned.kind, ...planned.columns.map(({ name, use }) => `${name}: ${use}`)];
  };
  assert.deepEqual(columns([' Survey Score ', 'Created At (UTC)', 'ID', 'Plan', ' ', '']), [
    'responses',
    'Survey Score: score',
    'Created At (UTC): time',
    'ID: skipped',
    'Plan: property',
    ': skipped',
    ': skipped',
  ]);
  assert.deepEqual(columns(['E-Mail', 'First Name', 'Plan']), [
    'people',
    'E-Mail: email',
    'First Name: first name',
    'Plan: property',
  ]);
  assert.deepEqual(columns(['Score', 'Created At', 'Created At (UTC)']), [
    'responses',
    'Score: score',
    'Created At: time',
    'Created At (UTC): property',
  ]);
  assert.deepEqual(columns(['Email'], { as: 'bounced' }), ['bounced', 'Email: email']);
});

test('header without required columns is refused with its line', () => {
  const refused: [header: string[], as: FileKind | undefined, sentence: RegExp][] = [
    [['Plan', 'Name'], undefined, /not a Delighted export: line 4 .*"Plan", "Name"/],
    [['Score', 'Email'], undefined, /line 4: .* a column for response times/],
    [['Date', 'Email'], 'responses', /a column for scores/],
    [['Name'], 'people', /a column for email addresses/],
    [['Score', ' Plan', 'PLAN '], undefined, /two columns have the same name, "Plan" and "PLAN"/],
  ];
  for (const [header, as, sentence] of refused) {
    assert.throws(() => plan(header, { ...(as && { as }) }), {
      kind: 'invalid',
      message: sentence,
    });
  }
});

const times: [text: string, zone: string, read: string | undefined][] = [
  ['2026-04-01 10:00:00 UTC', 'Europe/Berlin', '2026-04-01T10:00:00.000Z'],
  ['2026-04-01T10:00:00.1Z', 'Europe/Berlin', '2026-04-01T10:00:00.000Z'],
  ['2026-04-01T10:00:00.123456789gmt', 'UTC', '2026-04-01T10:00:00.000Z'],
  ['2026-04-01 10:00:00.1234567891', 'UTC', undefined],
  ['2026-04-01 10:00 +0530', 'UTC', '2026-04-01T04:30:00.000Z'],
  ['2026-04-01 10:00-05:00', 'UTC', '2026-04-01T15:00:00.000Z'],
  ['2026-04-01', 'Europe/Berlin', '2026-03-31T22:00:00.000Z'],
  ['2026-04-01 10:30', 'Europe/Berlin', '2026-04-01T08:30:00.000Z'],
  ['999999999', 'Europe/Berlin', '2001-09-09T01:46:39.000Z'],
  ['1614192119', 'Europe/Berlin', '2021-02-24T18:41:59.000Z'],
  ['99999999', 'UTC', undefined],
  ['16141921190', 'UTC', undefined],
  ['2026-02-30', 'UTC', undefined],
  ['2026-04-01 24:00', 'UTC', undefined],
  ['01.04.2026', 'UTC', undefined],
  // Clocks differ, and days end later in other zones.
  ['2026-05-02 00:00:00 UTC', 'UTC', '2026-05-02T00:00:00.000Z'],
  ['2026-05-02 00:00:01 UTC', 'UTC', undefined],
];
for (const [text, zone, expected] of times) {
  test(`${text} in ${zone} is ${expected ?? 'invalid'}`, () => {
    assert.equal(readFileTime(text, { zone, now })?.toISOString(), expected);
  });
}

const response = { Score: '9', 'Created At': at };
const person = {
  email: 'Ann@people.test',
  key: 'ann@people.test',
  name: 'Ann Lee',
  properties: { Plan: 'gold' },
};

test('response row has the values of all columns', () => {
  const read1 = read({
    ...response,
    Comment: ' Fine ',
    Tags: 'vip; late,vip|',
    Notes: 'called',
    'Person Email': 'Ann@people.test',
    'First Name': ' Ann',
    'Last Name': 'Lee ',
    Plan: ' gold ',
    Size: ' ',
    ID: '7',
  });
  const created_at = new Date('2026-04-01T10:00:00Z');
  const rest = { score: 9, category: 'promoter', comment: 'Fine', created_at };
  const said = { ...rest, note: 'called', tags: ['vip', 'late'] };
  assert.partialDeepStrictEqual(read1, {
    kind: 'response',
    response: { ...said, person, properties: person.properties },
  });
});

test('response without an address keeps its properties', () => {
  const propertiesOf = (columns: Record<string, string>) => {
    const row = read({ ...response, Email: '', ...columns });
    return row.kind === 'response' && [row.response.person, row.response.properties];
  };
  assert.deepEqual(propertiesOf({ Plan: 'gold' }), [null, { Plan: 'gold' }]);
  assert.deepEqual(propertiesOf({ Plan: '' }), [null, {}]);
});

test('first filled column of a field counts', () => {
  const row = read({
    ...response,
    Email: '',
    'Person Email': 'ann@people.test',
    Name: '',
    'Last Name': 'Lee',
  });
  assert.ok(row.kind === 'response');
  assert.deepEqual(
    [row.response.person?.email, row.response.person?.name],
    ['ann@people.test', 'Lee'],
  );
});

test('first column name of a field counts', () => {
  const row = read({
    ...response,
    'Response Score': '3',
    Email: 'ann@people.test',
    'Person Email': 'bob@people.test',
    Comment: 'one',
    Comments: 'two',
  });
  assert.ok(row.kind === 'response');
  const { score, comment, person } = row.response;
  assert.deepEqual([score, comment, person?.email], [9, 'one', 'ann@people.test']);
});

const long = (length: number) => 'x'.repeat(length);
const many = (tags: number) => Array.from({ length: tags }, (_, place) => `t${place}`).join(';');
const unclear: [columns: Record<string, string>, column: string][] = [
  [{ Score: 'nine' }, 'Score'],
  [{ 'Created At': '' }, 'Created At'],
  [{ 'Created At': 'May' }, 'Created At'],
  [{ Comment: long(maxCommentLength + 1) }, 'Comment'],
  [{ Notes: long(maxNoteLength + 1) }, 'Notes'],
  [{ Tags: many(maxTagsOfResponse + 1) }, 'Tags'],
  [{ Tags: long(201) }, 'Tags'],
  [{ 'Person Email': 'ann' }, 'Person Email'],
  [{ 'Person Email': 'ann@people.test', 'Person Name': long(maxNameLength + 1) }, 'Person Name'],
  [{ 'Person Email': 'ann@people.test', Plan: long(20_000) }, 'properties'],
];
for (const [columns, column] of unclear) {
  test(`row has an invalid ${column} ${JSON.stringify(columns).slice(0, 40)}`, () => {
    const row = read({ ...response, ...columns });
    assert.equal(row.kind === 'unclear' && row.column, column);
  });
}

const email = { Email: 'Ann@people.test' };
const suppressed = (kind: string, created_at: Date | null = null) => ({
  kind: 'suppression',
  suppression: { email: 'ann@people.test', kind, created_at },
});
const rows: [what: string, columns: Record<string, string>, given: Given, read: object][] = [
  [
    'a response on another scale',
    { ...response, 'Survey Type': 'CSAT' },
    {},
    { kind: 'passed', reason: 'other type', word: 'CSAT' },
  ],
  [
    'a request without an answer',
    { ...response, Score: ' ' },
    {},
    { kind: 'passed', reason: 'unanswered' },
  ],
  ['a person without an address', { Email: '' }, {}, { kind: 'passed', reason: 'without address' }],
  ['a person', { ...email, Name: 'Ann Lee', Plan: 'gold' }, {}, { kind: 'person', person }],
  [
    'a person who is inactive',
    { ...email, Active: '0' },
    { service: askNicely },
    { kind: 'passed', reason: 'inactive' },
  ],
  [
    'an inactive state',
    { ...email, Status: 'Inactive' },
    { service: askNicely },
    { kind: 'passed', reason: 'inactive' },
  ],
  [
    'a deactivated one',
    { ...email, State: 'Deactivated' },
    { service: askNicely },
    { kind: 'passed', reason: 'inactive' },
  ],
  [
    'a state of unsubscribed',
    { ...email, Status: 'Unsubscribed' },
    { service: askNicely },
    suppressed('unsubscribed'),
  ],
  [
    'a state of bounced',
    { ...email, Status: 'Email: hard_bounce' },
    { service: askNicely },
    suppressed('bounced'),
  ],
  ['one that bounced', { ...email, Bounced: 'yes' }, {}, suppressed('bounced')],
  [
    'one that unsubscribed and bounced',
    { ...email, Bounced: '1', Unsubscribed: 'TRUE' },
    {},
    suppressed('unsubscribed'),
  ],
  [
    'when it bounced',
    { ...email, 'Bounced At': at },
    {},
    suppressed('bounced', new Date('2026-04-01T10:00:00Z')),
  ],
  ['a list of unsubscribed people', email, { as: 'unsubscribed' }, suppressed('unsubscribed')],
  ['a list of bounced people', email, { as: 'bounced' }, suppressed('bounced')],
  [
    'an invalid time of unsubscribing',
    { ...email, Unsubscribed: 'soon' },
    {},
    {
      kind: 'unclear',
      column: 'Unsubscribed',
      complaint: '"soon" is not a time such as 2024-03-01 10:00:00 UTC',
    },
  ],
];
for (const [what, columns, given, expected] of rows) {
  test(`row is read as: ${what}`, () => {
    assert.partialDeepStrictEqual(read(columns, given), expected);
  });
}
