import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CampaignRecord } from '../../src/campaigns/queries.ts';
import { Standing } from '../../src/campaigns/screens/campaign.tsx';

const startedAt = new Date('2026-03-01T09:00:00Z');

const campaign: CampaignRecord = {
  id: 'c',
  survey_id: 's',
  name: 'Spring',
  status: 'running',
  send_at: null,
  per_hour: null,
  total: 0,
  sent: 0,
  duplicates: 0,
  invalid: 0,
  failed: 0,
  remaining: 0,
  reason: null,
  created_at: startedAt.toISOString(),
  started_at: startedAt.toISOString(),
  finished_at: null,
};

const said = (over: Partial<CampaignRecord>, props: { ranForMs?: number; opensAt?: Date } = {}) => {
  const now = new Date(startedAt.getTime() + (props.ranForMs ?? 0));
  const opensAt = props.opensAt ?? null;
  const of = { campaign: { ...campaign, ...over }, mails: 100, timeZone: 'Asia/Kolkata' };
  return String(Standing({ ...of, opensAt, now })).replace(/<[^>]*>/g, '');
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** How fast it is, how much is left, and what is said of the time. */
const times: [over: Partial<CampaignRecord>, ranForMs: number, says: string][] = [
  [{ per_hour: 60, remaining: 1 }, 0, 'About 1 minute to go.'],
  [{ per_hour: 60, remaining: 59 }, 0, 'About 59 minutes to go.'],
  [{ per_hour: 60, remaining: 60 }, 0, 'About 1 hour to go.'],
  [{ per_hour: 60, remaining: 47 * 60 }, 0, 'About 47 hours to go.'],
  [{ per_hour: 60, remaining: 48 * 60 }, 0, 'About 2 days to go.'],
  [{ per_hour: 60, remaining: 89 }, 0, 'About 1 hour to go.'],
  [{ per_hour: 60, remaining: 90 }, 0, 'About 2 hours to go.'],
  [{ per_hour: 60, remaining: 59 * 60 }, 0, 'About 2 days to go.'],
  [{ per_hour: 60, remaining: 60 * 60 }, 0, 'About 3 days to go.'],
  [{ per_hour: 60_000, remaining: 1001 }, 0, 'About 2 minutes to go.'],
  [{ per_hour: 7200, remaining: 1 }, 0, 'About 1 minute to go.'],
  [{ sent: 10, remaining: 20 }, minuteMs, 'About 2 minutes to go.'],
  [{ sent: 10, remaining: 20 }, hourMs, 'About 2 hours to go.'],
  [{ sent: 1, remaining: 2 }, 24 * hourMs, 'About 2 days to go.'],
  [{ sent: 0, remaining: 20 }, hourMs, 'It has just begun.'],
];
for (const [over, ranForMs, says] of times) {
  test(`${JSON.stringify(over)} after ${ranForMs / minuteMs} minutes: ${says}`, () => {
    assert.ok(said(over, { ranForMs }).endsWith(` ${says}`), said(over, { ranForMs }));
  });
}

test('a campaign that was stopped says why, as a sentence', () => {
  const says = said({ status: 'stopped', reason: 'the survey was closed' }).trim();
  assert.equal(says, '0 of 100 mails sent. Stopped. The survey was closed.');
});

test('nothing is said of the time when no mail is left', () => {
  assert.equal(said({ sent: 100 }).trim(), '100 of 100 mails sent.');
  assert.equal(said({ sent: 0, failed: 100 }).trim(), '0 of 100 mails sent.');
});

test('a scheduled one has its time by the clock of the organization, and its pace', () => {
  const says = said({ status: 'scheduled', send_at: '2026-03-02T20:00:00Z', per_hour: 50 });
  assert.match(says, /, at 01:30 in Asia\/Kolkata, with 50 mails an hour\.$/);
});
