import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClaimedMails } from '../../src/sends/mail-job.ts';
import type { OpenMail, SurveyWords } from '../../src/sends/queries.ts';

const mailOf = (id: string, survey_id = 'loyalty') =>
  ({ id, survey_id, claimed_ms_ago: 0 }) as OpenMail;
const wordsOf = (survey_id: string) => ({ survey_id }) as SurveyWords;
const idsOf = (mails: readonly OpenMail[] = []) => mails.map(({ id }) => id);

test('a job takes all of its mails once, with the words of their surveys and their age', () => {
  const claimed = createClaimedMails();
  const mails = [mailOf('1'), mailOf('2', 'support'), mailOf('3')];
  const began = performance.now();
  claimed.keep({ mails, words: [wordsOf('loyalty'), wordsOf('support')] });

  const taken = claimed.take(['3', '2']);
  assert.deepEqual(idsOf(taken?.mails), ['3', '2']);
  assert.deepEqual(taken?.words, [wordsOf('loyalty'), wordsOf('support')]);
  for (const { claimed_ms_ago } of taken!.mails) {
    const longest = performance.now() - began;
    assert.ok(claimed_ms_ago > 0 && claimed_ms_ago < longest, `${claimed_ms_ago} of ${longest} ms`);
  }
  assert.equal(claimed.take(['3']), undefined);
  assert.deepEqual(idsOf(claimed.take(['1'])?.mails), ['1']);
});

test('a job with a mail of another process takes none, and reads all of them', () => {
  const claimed = createClaimedMails();
  claimed.keep({ mails: [mailOf('1')], words: [wordsOf('loyalty')] });
  assert.equal(claimed.take(['1', '2']), undefined);
  assert.equal(claimed.take(['1']), undefined);
});

test('what a request has claimed is discarded at its end', () => {
  const claimed = createClaimedMails();
  const [mine, other] = [mailOf('1'), mailOf('2')];
  claimed.keep({ mails: [mine, other], words: [] });
  claimed.discard([mine]);
  assert.equal(claimed.take(['1']), undefined);
  assert.deepEqual(idsOf(claimed.take(['2'])?.mails), ['2']);
});
