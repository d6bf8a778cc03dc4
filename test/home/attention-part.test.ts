import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AttentionPart } from '../../src/home/attention.tsx';
import type { AttentionCounts } from '../../src/home/queries.ts';

const quiet: AttentionCounts = {
  held: 0,
  open_detractors: 0,
  oldest_open: null,
  open_since: '2026-10-01',
  mails_used: 0,
  monthly_send_limit: 1000,
  mails_sent: 0,
  mails_failed: 0,
  bounced: 0,
  webhooks: [],
  campaigns: [],
};
const campaign = { id: 'c', survey_id: 's', name: 'Spring', reason: 'why' };
const oldest_open = '2026-10-02T10:00:00.000Z';

/** The last counts that need no attention, and the first that do. */
const edges: [what: string, found: Partial<AttentionCounts>, shown: string[]][] = [
  ['79.9 % of the mails', { mails_used: 799 }, []],
  ['80 % of the mails', { mails_used: 800 }, ['warn: 80% of this month’s emails used']],
  ['99.9 % of the mails', { mails_used: 999 }, ['warn: 99% of this month’s emails used']],
  ['all mails', { mails_used: 1000 }, ['poor: 100% of this month’s emails used']],
  [
    'the only mail of a limit',
    { mails_used: 1, monthly_send_limit: 1 },
    ['poor: 100% of this month’s emails used'],
  ],
  ['a limit of no mails', { mails_used: 0, monthly_send_limit: 0 }, []],
  ['four failures', { mails_failed: 4 }, []],
  ['one failure in twenty', { mails_failed: 5, mails_sent: 95 }, []],
  [
    'more than one failure in twenty',
    { mails_failed: 5, mails_sent: 94 },
    ['poor: 5 emails failed in the last 7 days'],
  ],
  ['four bounces', { bounced: 4 }, []],
  ['one bounce in twenty', { bounced: 5, mails_sent: 100 }, []],
  [
    'more than one bounce in twenty',
    { bounced: 5, mails_sent: 99 },
    ['warn: 5 addresses bounced in the last 7 days'],
  ],
  [
    'a campaign that the service has paused',
    { campaigns: [{ ...campaign, status: 'paused' }] },
    ['poor: Campaign paused'],
  ],
  [
    'a campaign whose mails are put off',
    { campaigns: [{ ...campaign, status: 'running' }] },
    ['warn: Campaign delayed by the mail server'],
  ],
  ['one detractor', { open_detractors: 1, oldest_open }, ['news: 1 detractor unassigned']],
  ['999 detractors', { open_detractors: 999, oldest_open }, ['news: 999 detractors unassigned']],
  [
    'more detractors than are counted',
    { open_detractors: 1000, oldest_open },
    ['news: Over 999 detractors unassigned'],
  ],
];
for (const [what, found, shown] of edges) {
  test(`Home ${shown.length > 0 ? 'lists' : 'does not list'} ${what}`, () => {
    const organization = { slug: 'acme', name: 'Acme', role: 'owner' } as never;
    const html = AttentionPart({ counts: { ...quiet, ...found }, organization }).toString();
    const states = [...html.matchAll(/class="badge is-(\w+)".*?class="who">(.*?)<\/p>/gs)];
    assert.deepEqual(
      states.map(([, kind, text]) => `${kind}: ${text?.replace(/<[^>]*>/g, '').trim()}`),
      shown,
    );
    assert.equal(html.includes('You’re all caught up.'), shown.length === 0);
  });
}
