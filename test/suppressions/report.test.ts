import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReport } from '../../src/suppressions/report.ts';

const read = (text: string) => readReport(Buffer.from(text, 'latin1'));
const id = '0a8e4c1e-6f6e-4a34-9f35-3d4a1f3f8f10';
const returnPath = `bounce+${id}@bounces.example`;

type Made = Partial<{
  form: string;
  headers: string;
  notice: string;
  status: string;
  more: string;
}>;

/** A report about one recipient. */
const report = ({ form = 'multipart/report', headers = '', notice = '', ...made }: Made = {}) => {
  const status = made.status ?? 'Action: failed\nStatus: 5.1.1\n';
  const part = (type: string, text: string) => `--x\nContent-Type: ${type}\n\n${text}\n`;
  return [
    `${headers}Content-Type: ${form}; boundary=x\n\n`,
    part('text/plain', notice),
    part('message/delivery-status', `Reporting-MTA: dns; a.test\n\n${status}`),
    made.more ?? '',
    '--x--\n',
  ].join('');
};
const statusesOf = async (made: Made) => (await read(report(made))).statuses;
const qmail = (recipients: string) =>
  `Subject: failure notice\n\nHi. This is the qmail-send program.\n\n${recipients}\n--- Below this line is a copy of the message.\n\nMessage-ID: <${id}@a.test>\n\nHello\n`;

test('report is parsed case-insensitively', async () => {
  assert.equal((await read(report({ form: 'Multipart/REPORT' }))).kind, 'delivery');
  const [status] = await statusesOf({
    status:
      'ORIGINAL-recipient: rfc822; <Ann@People.test>\nfinal-Recipient: rfc822;ANN@a.test\naction: Failed\nSTATUS: 5.1.1 (no such user)\ndiagnostic-code: smtp; 550: gone\n',
  });
  assert.deepEqual(status, {
    action: 'failed',
    status: '5.1.1',
    diagnostic: '550: gone',
    recipients: ['ann@people.test', 'ann@a.test'],
  });
  const complaint = `Content-Type: multipart/report; boundary=x\n\n--x\nContent-Type: message/feedback-report\n\nFeedback-Type: Abuse\nOriginal-Mail-From: <${returnPath}>\n--x--\n`;
  const { kind, feedback, returnPaths } = await read(complaint);
  assert.deepEqual([kind, feedback, returnPaths], ['complaint', 'abuse', [returnPath]]);
  const [recipient] = (await read(qmail('<Ann@People.test>:\nno such user\n'))).statuses;
  assert.deepEqual(recipient?.recipients, ['ann@people.test']);
});

test('first report and first field of a message count', async () => {
  const other = '--x\nContent-Type: message/delivery-status\n\nReporting-MTA: b\n\nStatus: 2.0.0\n';
  const statuses = await statusesOf({ status: 'Status: 5.1.2\nStatus: 4.0.0\n', more: other });
  assert.deepEqual(
    statuses.map(({ status }) => status),
    ['5.1.2'],
  );
});

test('status has three numbers of at most three digits', async () => {
  for (const [given, status] of [
    ['5.123.456', '5.123.456'],
    ['5.1234.1', ''],
    ['smtp 4.2.2', '4.2.2'],
    ['3.0.0', ''],
  ] as const) {
    const [read] = await statusesOf({ status: `Status: ${given}\n` });
    assert.equal(read?.status, status, given);
  }
  for (const [said, status] of [
    ['no. (#5.123.456)', '5.123.456'],
    ['no. (#5.1234.1)', '5.0.0'],
  ] as const) {
    const { statuses } = await read(qmail(`<ann@a.test>:\n${said}\n`));
    assert.equal(statuses[0]?.status, status, said);
  }
});

test('first hundred recipients of a report are parsed', async () => {
  const emails = Array.from({ length: 101 }, (_, place) => `p${place}@people.test`);
  const groups = emails.map((email) => `Final-Recipient: rfc822; ${email}\n`).join('\n');
  const paragraphs = emails.map((email) => `<${email}>:\nno such user\n`).join('\n');
  for (const statuses of [
    await statusesOf({ status: groups }),
    (await read(qmail(paragraphs))).statuses,
  ]) {
    assert.deepEqual(
      statuses.map(({ recipients }) => recipients[0]),
      emails.slice(0, 100),
    );
  }
});

test('message id has at most 250 characters', async () => {
  const long = (length: number) => 'i'.repeat(length);
  const more = `--x\nContent-Type: message/rfc822\n\nMessage-ID: <${long(251)}> <${long(250)}>\nReturn-Path: <a@b.test>\n\nHello\n`;
  const { messageIds, returnPaths } = await read(
    report({ headers: `To: ${returnPath}\nDelivered-To: c@d.test\n`, more }),
  );
  assert.deepEqual(messageIds, [long(250)]);
  assert.deepEqual(returnPaths, [returnPath, 'c@d.test', 'a@b.test']);
});

const lineOf = (text: string, line: string) => text.split('\n').indexOf(line) + 1;
const offsetOf = (text: string, line: string) => text.indexOf(`\n${line}`) + 1;
const lastLine = 'Status: 5.1.1';
/** Positions of the status in a message, and if it is parsed there. */
const depths: [
  what: string,
  make: (fill: number) => string,
  depth: typeof lineOf,
  at: number,
  isRead: boolean,
][] = [];
for (const [at, isRead] of [
  [2000, true],
  [2001, false],
] as const) {
  const make = (fill: number) => report({ notice: '\n'.repeat(fill) });
  depths.push(['line', make, lineOf, at, isRead]);
}
for (const [at, isRead] of [
  [64 * 1024 - 1, true],
  [64 * 1024, false],
] as const) {
  const make = (fill: number) =>
    report({
      notice: `${'x'.repeat(999)}\n`.repeat(Math.floor(fill / 1000)) + 'y'.repeat(fill % 1000),
    });
  depths.push(['byte', make, offsetOf, at, isRead]);
}
for (const [what, make, depth, at, isRead] of depths) {
  test(`status at ${what} ${at} is ${isRead ? '' : 'not '}parsed`, async () => {
    const text = make(at - depth(make(0), lastLine));
    assert.equal(depth(text, lastLine), at);
    const [status] = (await read(text)).statuses;
    assert.equal(status?.status ?? '', isRead ? '5.1.1' : '');
  });
}

test('first 2,000 bytes of a line are parsed', async () => {
  const name = 'Diagnostic-Code: ';
  const [status] = await statusesOf({ status: `${name}${'d'.repeat(3000)}\n` });
  assert.equal(status?.diagnostic.length, 2000 - name.length);
});

for (const [end, isRead] of [
  [12 * 1024, true],
  [12 * 1024 + 1, false],
] as const) {
  test(`header field that ends at byte ${end} is ${isRead ? '' : 'not '}parsed`, async () => {
    const to = `To: ${returnPath}\n`;
    const form = 'Content-Type: multipart/report; boundary=x\n';
    const before = end + 1 - form.length - to.length;
    const lines = 'X-A: aaaa\n'.repeat(Math.floor(before / 10) - 1);
    const fill = `X-B: ${'b'.repeat(before - lines.length - 6)}\n`;
    const headers = `${form}${lines}${fill}${to}${'X-C: c\n'.repeat(100)}`;
    assert.equal(headers.indexOf(to) + to.length - 1, end);
    const { kind, returnPaths } = await read(report().replace(form, headers));
    assert.deepEqual([kind, returnPaths], ['delivery', isRead ? [returnPath] : []]);
  });
}
