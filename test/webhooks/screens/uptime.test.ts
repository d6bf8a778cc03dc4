import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Uptime } from '../../../src/webhooks/screens/webhook.tsx';

test('a day has the colour of its worst outcome below its delivered share', () => {
  const days = [
    { day: '2026-03-01', delivered: 0, failed: 0, skipped: 0 },
    { day: '2026-03-02', delivered: 48, failed: 0, skipped: 0 },
    { day: '2026-03-03', delivered: 50, failed: 2, skipped: 9 },
    { day: '2026-03-04', delivered: 1, failed: 0, skipped: 1 },
  ];
  const html = String(Uptime({ days }));
  const tones = [...html.matchAll(/<rect class="([\w-]+)"/g)].map(([, tone]) => tone);
  assert.deepEqual(tones, ['is-even', 'is-good', 'is-poor', 'is-good', 'is-warn', 'is-good']);
  const heights = [...html.matchAll(/is-good"[^>]* height="([^"]+)"/g)].map(([, height]) => height);
  assert.deepEqual(heights, ['100%', '82.0%', '50.0%']);
  assert.match(html, /<title>3 Mar 2026: 50 delivered, 2 failed, 9 skipped<\/title>/);
  assert.match(html, /99 events delivered, 2 failed and 10 skipped in 4 days/);
  assert.match(html, /<dt>Success rate<\/dt><dd>89.2%<\/dd>/);
});
