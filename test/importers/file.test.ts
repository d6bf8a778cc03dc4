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
  surveyTypeNames,
} from '../../src/importers/rows.ts';
import { headerKey } from '../../src/lib/cli/csv.ts';

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

test('a header says what a file holds, and what each column is', () => {
  const columns = (header: string[], given?: Given) => {
    const planned = plan(header, given);
    return [planned.kind, ...planned.columns.map(({ name, use }) => `${name}: ${use}`)];
  };
  assert.deepEqual(columns([' Survey Score ', 'Created At (UTC)', 'ID', 'Plan', ' ', '']), [
    'responses',
    'Survey Score: score',
    'Created At (UTC): time',
    'ID: left out',
    'Plan: property',
    ': left out',
    ': left out',
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

/** For each use the names of its columns, as both services are known to write them. */
const spelled: [service: FormerService, kind: FileKind, Record<string, string>][] = [
  [
    delighted,
    'responses',
    {
      'first name': 'First Name, Person First Name',
      'last name': 'last_name, Person Last Name',
      score: 'Score, Survey Score, Response Score, Rating',
      time: 'Created At, Responded At, Survey Responded At, Response Created At, Response Time, Response Date, Submitted At, Timestamp, Date',
      comment: 'Comment, Comments, Survey Comment, Response Comment',
      type: 'Survey Type, Type',
      tags: 'Tags, Tag, Response Tags',
      note: 'Notes, Note',
      'left out':
        'ID, Response ID, Survey Response ID, Person ID, Permalink, Updated At, Survey Sent At, Sent At, Survey ID, Survey Name, Project',
    },
  ],
  [
    delighted,
    'people',
    {
      unsubscribed: 'Unsubscribed At, Unsubscribed, Unsubscribed On, Date Unsubscribed',
      bounced: 'Bounced At, Bounced, Bounced On, Date Bounced',
      'left out':
        'ID, Person ID, Created At, Updated At, Last Sent At, Last Survey Sent At, Last Responded At, Next Survey Scheduled At, Next Survey At, Send At',
    },
  ],
  [
    askNicely,
    'responses',
    {
      score: 'answer, score, nps_score, rating',
      time: 'responded, responded_at, responded_time, response_time, response_date',
      comment: 'comment, comments, feedback',
      type: 'question_type, survey_type, metric',
      tags: 'tags, tag',
      note: 'note, notes',
      'left out':
        'id, response_id, person_id, contact_id, answerlabel, data, status, dontcontact, sent, opened, lastemailed, created, published, publishedname, publishedavatar, caseclosedtime, deliverymethod',
    },
  ],
  [
    askNicely,
    'people',
    {
      unsubscribed: 'unsubscribetime, unsubscribed_at, unsubscribedtime, unsubscribed',
      status: 'status, state',
      active: 'active, is_active',
      'left out':
        'id, contact_id, person_id, created, lastemailed, scheduled, importedattime, imported_at',
    },
  ],
];
for (const [service, kind, columns] of spelled) {
  test(`columns of ${kind} that ${service.name} exports are known by each of their names`, () => {
    for (const [use, names] of Object.entries(columns)) {
      for (const name of names.split(', ')) {
        const others =
          kind === 'people'
            ? ['Email']
            : service === delighted
              ? ['Rating', 'Date']
              : ['rating', 'responded'];
        const header = [name, ...others.filter((other) => other !== name)];
        assert.equal(plan(header, { service, as: kind }).columns[0]?.use, use, name);
      }
    }
  });
}

test('the type of a survey is known by each of its names', () => {
  const names = {
    nps: 'NPS, eNPS',
    csat: 'CSAT, Smileys',
    ces: 'ces',
    thumbs: 'Thumbs',
    star5: '5-Star, star5, Five Star, stars five, Stars',
  };
  for (const [type, each] of Object.entries(names)) {
    for (const name of each.split(', ')) assert.equal(surveyTypeNames[headerKey(name)], type, name);
  }
});

const refused: [header: string[], as: FileKind | undefined, sentence: string][] = [
  [
    ['Plan ', ' Name'],
    undefined,
    'this is no export of Delighted: line 4 names neither a column of scores nor one of email addresses, but "Plan", "Name"',
  ],
  [
    [' Score', 'Email'],
    undefined,
    'line 4: no column of this file says the time of a response, as an export of Delighted does; it has "Score", "Email"',
  ],
  [
    ['Date', 'Email'],
    'responses',
    'line 4: no column of this file says the score of a response, as an export of Delighted does; it has "Date", "Email"',
  ],
  [
    ['Name'],
    'people',
    'line 4: no column of this file says the email address of a person, as an export of Delighted does; it has "Name"',
  ],
  [['Score', ' Plan', 'PLAN '], undefined, 'line 4: two columns are named "Plan" and "PLAN"'],
];
for (const [header, as, sentence] of refused) {
  test(`refused: ${sentence}`, () => {
    assert.throws(() => plan(header, { ...(as && { as }) }), {
      name: 'Refusal',
      kind: 'invalid',
      message: `${sentence}. Nothing was imported`,
    });
  });
}

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
  // Clocks differ, and days end later elsewhere.
  ['2026-05-02 00:00:00 UTC', 'UTC', '2026-05-02T00:00:00.000Z'],
  ['2026-05-02 00:00:01 UTC', 'UTC', undefined],
];
for (const [text, zone, expected] of times) {
  test(`${text} in ${zone} is ${expected ?? 'no time'}`, () => {
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

test('a row of a response has all that its columns say', () => {
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
  assert.deepEqual(read1, {
    kind: 'response',
    response: { ...said, person, properties: null },
  });
});

test('a response without an address keeps its properties, and has none without any', () => {
  const propertiesOf = (columns: Record<string, string>) => {
    const row = read({ ...response, Email: '', ...columns });
    return row.kind === 'response' && [row.response.person, row.response.properties];
  };
  assert.deepEqual(propertiesOf({ Plan: 'gold' }), [null, { Plan: 'gold' }]);
  assert.deepEqual(propertiesOf({ Plan: '' }), [null, null]);
});

test('of several columns for one thing the first that is filled counts', () => {
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

test('of several columns for one thing that are filled the first of their names counts', () => {
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
const unclear: [columns: Record<string, string>, column: string, complaint: string | RegExp][] = [
  [{ Score: long(90) }, 'Score', `"${long(80)}" is no score from 0 to 10`],
  [{ 'Created At': '' }, 'Created At', 'the time is missing'],
  [{ 'Created At': 'May' }, 'Created At', '"May" is no time such as 2024-03-01 10:00:00 UTC'],
  [{ Comment: long(5001) }, 'Comment', 'it has more than 5000 characters'],
  [{ Notes: long(5001) }, 'Notes', 'it has more than 5000 characters'],
  [{ Tags: many(51) }, 'Tags', 'it has more than 50 tags'],
  [{ Tags: long(201) }, 'Tags', 'a tag has more than 200 characters'],
  [{ 'Person Email': 'ann' }, 'Person Email', '"ann" is not an email address'],
  [
    { 'Person Email': 'ann@people.test', 'Person Name': long(201) },
    'Person Name',
    'the name must be at most 200 characters',
  ],
  [
    { 'Person Email': 'ann@people.test', Plan: long(20_000) },
    'properties',
    /^the properties must be at most \d+ bytes as JSON$/,
  ],
];
for (const [columns, column, complaint] of unclear) {
  test(`a row is not clear: ${column}, ${complaint}`, () => {
    const row = read({ ...response, ...columns });
    assert.ok(row.kind === 'unclear');
    assert.equal(row.column, column);
    if (typeof complaint === 'string') assert.equal(row.complaint, complaint);
    else assert.match(row.complaint, complaint);
  });
}

test('the longest comment, note and name, and as many tags as one may have, are taken', () => {
  const row = read({
    ...response,
    Comment: long(5000),
    Notes: long(5000),
    Tags: `${long(200)};${many(49)}`,
    Email: 'ann@people.test',
    Name: long(200),
  });
  assert.equal(row.kind, 'response');
});

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
  ['a list of those that unsubscribed', email, { as: 'unsubscribed' }, suppressed('unsubscribed')],
  ['a list of those that bounced', email, { as: 'bounced' }, suppressed('bounced')],
  [
    'a time of unsubscribing that is none',
    { ...email, Unsubscribed: 'soon' },
    {},
    {
      kind: 'unclear',
      column: 'Unsubscribed',
      complaint: '"soon" is no time such as 2024-03-01 10:00:00 UTC',
    },
  ],
];
for (const [what, columns, given, expected] of rows) {
  test(`a row says: ${what}`, () => {
    assert.deepEqual(read(columns, given), expected);
  });
}
