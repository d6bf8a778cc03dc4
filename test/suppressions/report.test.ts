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
});

test('first report and first field of a message count', async () => {
  const other = '--x\nContent-Type: message/delivery-status\n\nReporting-MTA: b\n\nStatus: 2.0.0\n';
  const statuses = await statusesOf({ status: 'Status: 5.1.2\nStatus: 4.0.0\n', more: other });
  assert.deepEqual(
    statuses.map(({ status }) => status),
    ['5.1.2'],
  );
});

test('first hundred recipients of a report are parsed', async () => {
  const emails = Array.from({ length: 101 }, (_, place) => `p${place}@people.test`);
  const groups = emails.map((email) => `Final-Recipient: rfc822; ${email}\n`).join('\n');
  const statuses = await statusesOf({ status: groups });
  assert.deepEqual(
    statuses.map(({ recipients }) => recipients[0]),
    emails.slice(0, 100),
  );
});
