import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sweepCampaigns } from '../src/campaigns/automation.ts';
import { demoOrganization } from '../src/demo/fill.ts';
import { makeStory, surveys } from '../src/demo/story.ts';
import type { JobPayloads } from '../src/jobs.ts';
import { one } from '../src/lib/db/db.ts';
import { type AnalysisRequest, analyze } from '../src/summaries/comment-reader.ts';
import { makeSummary } from '../src/summaries/summarize.ts';
import { typeFacts } from '../src/survey-types.ts';
import { readingTools } from './support/make/feedback.ts';
import { makeOrganization } from './support/make/rows.ts';
import { bareApp } from './support/probe/app.ts';
import { testDatabase } from './support/probe/database.ts';
import { visitorBrowser } from './support/probe/visitor.ts';
import { askback, secretKey } from './support/processes/program.ts';

const { db, url } = await testDatabase();
const demo = async () => {
  const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey, PORT: '8123' };
  const { code, stdout } = await askback(['demo', '--json'], environment);
  assert.equal(code, 0);
  return JSON.parse(stdout);
};

test('two demos at once fill one organization', async () => {
  const both = await Promise.all([demo(), demo()]);
  assert.deepEqual(both.map(({ created }) => created).sort(), [false, true]);
  assert.equal((await demo()).created, false);

  const { answers, types, held, comments, months, keys, tags } = one(
    await db`
      select count(*)::int as answers,
             count(distinct s.type)::int as types,
             count(r.held_reason)::int as held,
             count(r.comment)::int as comments,
             count(distinct date_trunc('month', r.created_at))::int as months,
             (select count(*)::int from api_keys where org_id = ${demoOrganization}) as keys,
             (select count(*)::int from tags where org_id = ${demoOrganization}) as tags
      from responses r
      join surveys s on s.id = r.survey_id
      where r.org_id = ${demoOrganization}`,
  );
  assert.ok(answers > 900 && comments > 400 && months >= 12, `${answers} ${comments} ${months}`);
  assert.deepEqual([types, keys, tags], [5, 2, 5]);
  assert.ok(held > 1, `${held} on hold`);
  const [made] = both.filter(({ created }) => created);
  assert.equal(made.curl.length, 3);
  for (const line of made.curl)
    assert.match(line, /^curl .*'http:\/\/127\.0\.0\.1:8123\/api\/v1\//);
});

test('the demo prints a working sign-in of an owner and operator', async () => {
  const { db: fresh, url: own } = await testDatabase();
  const environment = { DATABASE_URL: own, ASKBACK_SECRET_KEY: secretKey, PORT: '8123' };
  const { sign_in } = JSON.parse((await askback(['demo', '--json'], environment)).stdout);
  const browser = visitorBrowser(bareApp(fresh));
  assert.equal((await browser.post('/sign-in', sign_in)).status, 303);
  assert.equal((await browser.get('/')).headers.get('Location'), '/o/larkspur-coffee');
  const [member] = await fresh`select is_operator from members where email = ${sign_in.email}`;
  assert.equal(member?.['is_operator'], true);
});

test("the demo's comments are analyzed and its last month summarized", async () => {
  const { id, created_at, ai_enabled } = one(
    await db<{ id: string; created_at: Date; ai_enabled: boolean }[]>`
      select id, created_at, ai_enabled from organizations where id = ${demoOrganization}`,
  );
  assert.ok(ai_enabled && created_at.getTime() < Date.now() - 365 * 86_400_000);
  const waiting = await db<AnalysisRequest[]>`
    select org_id, response_id, tries, asked_at::text as asked_at from waiting_analyses where org_id = ${id}`;
  const tools = readingTools(db);
  for (const request of waiting) await analyze(tools, request);
  const jobs = await db<{ payload: JobPayloads['summaries.make'] }[]>`
    delete from test.jobs where task = 'summaries.make' returning payload`;
  for (const { payload } of jobs) await makeSummary(tools, payload, null);

  const { left, themes, sentiments, risks, text } = one(
    await db`
      select (select count(*)::int from responses r
              where comment is not null and not exists (select from analyses where response_id = r.id)) as left,
             (select count(distinct theme)::int from analyses, unnest(themes) theme) as themes,
             (select count(distinct sentiment)::int from analyses) as sentiments,
             (select count(distinct churn_risk)::int from analyses) as risks,
             (select text from summaries where org_id = ${id} order by period_end desc limit 1) as text`,
  );
  assert.deepEqual([left, sentiments, risks], [0, 4, 3]);
  assert.ok(themes > 10, `${themes} themes`);
  assert.match(text, /Net Promoter Score, customers: .*Top themes: .*In their words:/s);
});

test('the running service summarizes eleven months of the demo', async () => {
  const summaries = await db<
    { months: string; ago: number; responses: number; compared: boolean }[]
  >`
    select to_char(period_start at time zone 'UTC', 'DD') || to_char(period_end at time zone 'UTC', 'DD') as months,
           (date_part('year', age(filled_in, period_start at time zone 'UTC')) * 12
             + date_part('month', age(filled_in, period_start at time zone 'UTC')))::int as ago,
           responses, previous_nps is not null as compared
    from summaries s, (
      select date_trunc('month', max(created_at) at time zone 'UTC') as filled_in
      from api_keys where org_id = ${demoOrganization}
    ) k
    where s.org_id = ${demoOrganization} order by period_start`;
  assert.deepEqual(
    summaries.map(({ ago }) => ago),
    [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
  );
  for (const { months, responses, compared } of summaries.slice(1)) {
    assert.ok(months === '0101' && responses > 20 && compared, `${months} ${responses}`);
  }
});

test('the demo is added to other organizations only with --yes', async () => {
  const { db: other, url: DATABASE_URL } = await testDatabase();
  await makeOrganization(other);
  const environment = { DATABASE_URL, ASKBACK_SECRET_KEY: secretKey };
  const refused = await askback(['demo'], environment);
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /other organizations: askback demo --yes adds the demo anyway/);
  const [count] = await other`select count(*)::int as organizations from organizations`;
  assert.deepEqual({ ...count }, { organizations: 1 });
  assert.equal((await askback(['demo', '--yes'], environment)).code, 0);
  assert.equal((await askback(['demo'], environment)).code, 0);
});

for (const survey of surveys) {
  test(`the story of ${survey.name} is believable`, () => {
    const now = new Date('2027-03-01T12:00:00Z');
    const { contacts, anonymous } = makeStory(survey, now);
    const { lowest, highest } = typeFacts(survey.type);

    assert.equal(new Set(contacts.map(({ email }) => email)).size, survey.people);
    for (const { created_at, sent_at, answer } of contacts) {
      if (sent_at) assert.ok(created_at < sent_at);
      if (answer) assert.ok(sent_at && sent_at <= answer.created_at && answer.created_at <= now);
    }
    const answers = [...anonymous, ...contacts.flatMap(({ answer }) => answer ?? [])];
    const comments = answers
      .filter(({ comment }) => comment !== null)
      .sort((one, other) => +one.created_at - +other.created_at)
      .map(({ comment }) => comment);
    assert.ok(comments.every((comment, at) => comment !== comments[at + 1]));
    for (const { score } of answers) assert.ok(score >= lowest && score <= highest);
    assert.deepEqual(makeStory(survey, now), { contacts, anonymous });
  });
}

test("the demo's webhook was turned off by the failures that it shows", async () => {
  const newest = await db`
    select d.undelivered, d.attempts, count(a.*)::int as failed, w.failure_count, w.deactivated_reason
    from webhooks w
    join ended_deliveries d on d.webhook_id = w.id
    left join delivery_attempts a on a.webhook_id = w.id and a.delivery_id = d.id
    where w.org_id = ${demoOrganization} and not w.active
    group by w.id, d.webhook_id, d.id
    order by d.id desc
    limit 4`;
  const failures = newest.filter(({ undelivered }) => undelivered === 'failed');
  assert.equal(failures.length, 3);
  for (const { attempts, failed, failure_count, deactivated_reason } of failures) {
    assert.deepEqual([attempts, failed, failure_count], [2, 2, 3]);
    assert.match(deactivated_reason, /^3 deliveries in a row failed/);
  }
});

test('the service sends no reminder and no delivery for the demo', async () => {
  const past = one(
    await db`
      select (select count(*)::int from mails where org_id = ${demoOrganization}) as mails,
             (select count(*)::int from mails where org_id = ${demoOrganization} and reminder = 1) as reminders,
             (select count(*)::int from suppressions where org_id = ${demoOrganization}) as suppressions,
             (select count(*)::int from replies where org_id = ${demoOrganization}) as replies,
             (select count(*)::int from ended_deliveries where org_id = ${demoOrganization}) as deliveries,
             (select count(*)::int from pending_deliveries where org_id = ${demoOrganization}) as pending,
             (select count(*)::int from response_answers where org_id = ${demoOrganization}) as answered`,
  );
  for (const [what, count] of Object.entries(past)) {
    assert.equal(count > 0, what !== 'pending', `${count} ${what}`);
  }
  await sweepCampaigns({ db });
  const open = await db`
    select from mails where org_id = ${demoOrganization} and status in ('claimed', 'sending')
    union all select from campaign_contacts where org_id = ${demoOrganization} and batch_id is null`;
  assert.equal(open.length, 0);
});
