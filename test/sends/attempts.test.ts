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
const mail = { id: 'm', org_id: 'o', survey_id: 's' } as ClaimedMail;
const db = (() => assert.fail('no statement is needed')) as unknown as Db;

type MailCase = { outcome?: MailOutcome; asks?: boolean; ago?: number; inJob?: boolean };

/** One attempt without time left, so `mayLeave` returns false. */
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
    time: { endsAt: -60_000, maxExchangeMs: 1000, signal: new AbortController().signal },
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
  test(`span of a mail ${what} has the outcome ${word}`, async (t) => {
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
