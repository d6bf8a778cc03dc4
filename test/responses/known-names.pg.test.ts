import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandActor } from '../../src/audit/acts.ts';
import { redact, redactedExcerpt } from '../../src/lib/redact/redact.ts';
import { releaseResponse } from '../../src/responses/release.ts';
import type { Analyst } from '../../src/summaries/analyst.ts';
import { analyze } from '../../src/summaries/comment-reader.ts';
import { summarize } from '../../src/summaries/summarize.ts';
import { readingTools } from '../support/make/feedback.ts';
import { writeKeyOf } from '../support/make/rows.ts';
import { ask, visitor } from '../support/probe/ask.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const { post } = visitor(db);

/** Names of the organization's people, the sender and the contact, which occur nowhere else. */
const known = { people: 'quennell', from_name: 'draycote', name: 'ollivander' };
const comment = 'i asked quennell, then draycote, and ollivander waited for the slow export';
const anonymous = 'i asked [name], then [name], and ollivander waited for the slow export';
const redacted = 'i asked [name], then [name], and [name] waited for the slow export';

/** A survey with one contact, and a comment with all of these names. */
async function survey() {
  const asked = await ask(db);
  const { organization: id, survey: surveyId, contact } = asked;
  await db`
    update organizations
    set people = ${[known.people]}, ai_enabled = true, time_zone = 'UTC' where id = ${id}`;
  await db`update surveys set from_name = ${known.from_name} where id = ${surveyId}`;
  await db`update contacts set name = ${known.name} where id = ${contact}`;
  return {
    ...asked,
    organization: { id, name: 'Acme', time_zone: 'UTC', ai_enabled: true },
    /** The excerpt in the event for subscribers. */
    excerpt: async () => {
      const [delivery] = await db<{ body: string }[]>`
        select body from deliveries where org_id = ${id} and event = 'detractor.detected'`;
      return JSON.parse(delivery!.body).comment as string;
    },
  };
}

/** An analyst that records its input. */
function listener() {
  const received: string[] = [];
  const analyst: Analyst = {
    name: 'listener',
    analyze: async (remark) => {
      received.push(remark.comment);
      const themes = { themes: [], churn_risk: 'low', summary: 'Fine.' } as const;
      return { ok: true, value: { sentiment: 'neutral', ...themes, themes: [] } };
    },
    write: async (facts) => {
      received.push(facts);
      return { ok: true, value: null };
    },
  };
  return { received, tools: readingTools(db, analyst) };
}

test('English name recognition finds none of these names', async () => {
  assert.equal(await redact(comment, { names: [], emails: [] }), comment);
});

test('events of personal answers contain none of the known names', async () => {
  const asked = await survey();
  await post(asked.personal, { score: '2', comment });
  assert.equal(await asked.excerpt(), redacted);
});

test('events of shared answers contain none of the known names', async () => {
  const asked = await survey();
  await post(asked.shared, { score: '2', comment });
  assert.equal(await asked.excerpt(), anonymous);
});

test('events of released responses contain none of the known names', async () => {
  const asked = await survey();
  await post(asked.personal, { score: '2', comment, topic: 'a machine' });
  const [{ id } = { id: '' }] = await asked.answers();
  await releaseResponse({ db, excerpt: redactedExcerpt }, writeKeyOf(asked.organization.id), id);
  assert.equal(await asked.excerpt(), redacted);
});

for (const [link, expected] of [
  ['personal', redacted],
  ['shared', anonymous],
] as const) {
  test(`analysis and summary of a ${link} answer get no known names`, async () => {
    const asked = await survey();
    await post(asked[link], { score: '2', comment });
    const [{ id } = { id: '' }] = await asked.answers();
    const { received, tools } = listener();

    await analyze(tools, { org_id: asked.organization.id, response_id: id, tries: 0 });
    const day = 86_400_000;
    const period = { start: new Date(Date.now() - day), end: new Date(Date.now() + day) };
    await summarize(tools, {
      organization: asked.organization,
      period,
      scheduled: false,
      actor: commandActor(),
    });

    assert.equal(received.length, 2);
    assert.equal(received[0], expected);
    assert.ok(received.at(-1)!.includes(expected), received.at(-1)!);
    assert.doesNotMatch(received.join(), /quennell|draycote/);
  });
}
