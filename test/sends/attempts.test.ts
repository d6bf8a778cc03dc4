import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Db } from '../../src/lib/db/db.ts';
import type { MailOutcome } from '../../src/lib/smtp/connection.ts';
import { createAttempts } from '../../src/sends/mail-job.ts';
import type { ClaimedMail } from '../../src/sends/queries.ts';
import { recordSpans } from '../support/fakes/tracer.ts';
import { accepted, busy, lost, rejected, unanswered } from '../support/make/mail-outcomes.ts';

const [request, job] = ['a', 'b'].map((letter) => letter.repeat(32));
const traceparentOf = (trace: string | undefined) => `00-${trace}-b7ad6b7169203331-01`;
const minute = 60_000;
const mail = { id: 'm', org_id: 'o', survey_id: 's' } as ClaimedMail;
const db = (() => assert.fail('no statement is needed')) as unknown as Db;

type MailCase = { outcome?: MailOutcome; asks?: boolean; ago?: number; inJob?: boolean };

/** One attempt whose time is over: a mailer that asks whether the mail may leave gets a no. */
async function tryOnce({ outcome = accepted(), asks = false, ago = 0, inJob = true }: MailCase) {
  const mailer = {
    concurrency: 1,
    server: { host: 'mail.test', port: 2525 },
    async send(_: ClaimedMail, { mayLeave }: { mayLeave: () => Promise<boolean> }) {
      if (asks) assert.equal(await mayLeave(), false);
      return outcome;
    },
  };
  const claimed = { ...mail, traceparent: traceparentOf(request), claimed_ms_ago: ago };
  return await createAttempts({ db, mailer }).tryInSpan(claimed, {
    attempt: 2,
    job: inJob ? traceparentOf(job) : null,
    time: { endsAt: -minute, longestMs: minute, signal: new AbortController().signal },
  });
}

const words: [word: string, given: MailCase][] = [
  ['accepted', {}],
  ['permanent', { outcome: rejected('550 5.1.1 no') }],
  ['transient', { outcome: busy() }],
  ['transient', { outcome: lost('no connection') }],
  ['unknown', { outcome: unanswered('silence') }],
  ['withdrawn', { outcome: lost(), asks: true }],
];

for (const [word, given] of words) {
  const what = given.asks
    ? 'that may not leave'
    : `that ends as ${given.outcome?.kind ?? 'accepted'}`;
  test(`the span of a mail ${what} says ${word}`, async (t) => {
    const spans = recordSpans(t);
    const tried = await tryOnce(given);
    assert.equal(spans.length, 1);
    const failed = !['accepted', 'withdrawn'].includes(word);
    assert.deepEqual(spans[0]?.attributes, {
      'server.address': 'mail.test',
      'server.port': 2525,
      'network.protocol.name': 'smtp',
      'askback.survey.id': 's',
      'askback.send.id': 'm',
      'askback.send.attempt': 2,
      'askback.send.outcome': word,
      ...(failed && { 'error.type': word }),
    });
    assert.equal(spans[0]?.failed, failed);
    assert.equal(tried.traceparent, `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`);
  });
}

const begun = () => Promise.resolve([{ id: 'm', attempts: 1 }]);
/** How long the mails before took, and with how much time left one still begins. */
const exchanges: { what: string; before: number[]; longestMs: number; latest: number }[] = [
  { what: 'before any other', before: [], longestMs: 500, latest: 0 },
  { what: 'after one of 20 ms', before: [20], longestMs: 500, latest: 60 },
  { what: 'after two of 20 ms', before: [20, 20], longestMs: 500, latest: 50 },
  { what: 'after a slow one', before: [900], longestMs: 500, latest: 500 },
];
for (const { what, before, longestMs, latest } of exchanges) {
  test(`a mail ${what} begins while there is time for it, and no later`, async (t) => {
    let now = 10_000;
    t.mock.method(performance, 'now', () => now);
    let takesMs = 0;
    const mailer = {
      concurrency: 1,
      server: { host: 'mail.test', port: 2525 },
      async send(_: ClaimedMail, { mayLeave }: { mayLeave: () => Promise<boolean> }) {
        if (!(await mayLeave())) return lost();
        now += takesMs;
        return accepted();
      },
    };
    const attempts = createAttempts({ db: begun as unknown as Db, mailer });
    const tryWith = async (leftMs: number) => {
      const time = { endsAt: now + leftMs, longestMs, signal: new AbortController().signal };
      const claimed = { ...mail, traceparent: null, claimed_ms_ago: 0 };
      return await attempts.tryInSpan(claimed, { attempt: 1, job: null, time });
    };
    for (const ms of before) {
      takesMs = ms;
      assert.equal((await tryWith(minute)).ms, ms);
    }
    takesMs = 0;
    assert.equal((await tryWith(latest - 1)).beginning, 'late');
    assert.deepEqual((await tryWith(latest)).beginning, { attempt: 1 });
  });
}
