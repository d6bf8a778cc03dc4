import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { parsePage, readJson } from '../lib/paging/page.ts';
import { idParam } from '../lib/validation/parse.ts';
import { getOrganization } from '../organizations/queries.ts';
import { startOfLocalDay } from '../responses/period.ts';
import { requireRole, type ScreenEnv } from '../sessions/session.ts';
import { signedNps } from '../survey-types.ts';
import { Mistakes, Tag, Time } from '../web/app/badges.tsx';
import { redirectWith } from '../web/app/flash.ts';
import {
  Day,
  emptyForm,
  Field,
  type FormState,
  readForm,
  SubmitOrCancel,
} from '../web/app/forms.tsx';
import { count, counted, DataTable, EmptyState, Facts, PagedList } from '../web/app/lists.tsx';
import { renderScreen } from '../web/app/screen.tsx';
import {
  findSummary,
  findSummaryBefore,
  findUsualDays,
  listSummaries,
  type SummaryBefore,
} from './queries.ts';
import { periodOfDays, requestSummary } from './summarize.ts';

type SummaryScreenTools = { db: Db };

const PeriodForm = v.pipe(
  v.object({ date_from: Day, date_to: Day }),
  v.forward(
    v.check(({ date_from, date_to }) => date_from <= date_to, 'Must not be before the first day'),
    ['date_to'],
  ),
);

const pathOf = ({ slug }: { slug: string }) => `/o/${slug}/summaries`;

/** Summaries: below `/o/:slug/summaries`. Everybody reads them; editors have them made. */
export const summaryScreens = ({ db }: SummaryScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', async (c) => {
      const { organization } = c.var;
      const page = parsePage(c.req.queries());
      const [{ data, meta }, { time_zone }] = await Promise.all([
        readJson<{ data: ShownSummary[]; meta: { total: number } }>(
          db,
          listSummaries(db, organization.id, page),
        ),
        getOrganization(db, organization.id),
      ]);
      const here = pathOf(organization);
      const mayMake = organization.role !== 'viewer';
      return renderScreen(c, {
        title: 'Summaries',
        section: 'summaries',
        actions: mayMake ? (
          <a class="button primary" href={`${here}/new`}>
            New summary
          </a>
        ) : null,
        body: <SummaryList {...{ summaries: data, total: meta.total, here, time_zone, ...page }} />,
      });
    })

    .get('/new', async (c) => {
      const { orgId } = requireRole(c, 'editor');
      const { from, to } = await findUsualDays(db, orgId, c.var.organization.timeZone);
      return showForm(c, emptyForm({ date_from: from, date_to: to }));
    })

    .post('/', async (c) => {
      const editor = requireRole(c, 'editor');
      const form = await readForm(c, PeriodForm);
      if (form.errors) return showForm(c, form, 422);
      const { date_from: from, date_to: to } = form.values;
      const { time_zone } = await getOrganization(db, editor.orgId);
      await requestSummary({ db }, editor, await periodOfDays(db, time_zone, { from, to }));
      return redirectWith(
        c,
        pathOf(c.var.organization),
        'The summary is being written. It appears here in a moment.',
      );
    })

    .get('/:id', async (c) => {
      const { organization } = c.var;
      const id = idParam(c, 'summary');
      const found = await readJson<{ data: ShownSummary } | null>(
        db,
        findSummary(db, organization.id, id),
      );
      if (!found) throw notFound('summary');
      const [before, { time_zone }] = await Promise.all([
        findSummaryBefore(db, organization.id, found.data),
        getOrganization(db, organization.id),
      ]);
      const list = pathOf(organization);
      const days = periodFilters(found.data, time_zone);
      return renderScreen(c, {
        title: periodText(found.data, time_zone),
        section: 'summaries',
        trail: [{ text: 'Summaries', href: list }],
        body: (
          <SummaryPage
            {...{ summary: found.data, before, list, timeZone: time_zone }}
            responses={`/o/${organization.slug}/responses?${days}`}
          />
        ),
      });
    });

function showForm(c: Context<ScreenEnv>, form: FormState, status: 200 | 422 = 200) {
  const list = pathOf(c.var.organization);
  return renderScreen(c, {
    title: 'New summary',
    section: 'summaries',
    trail: [{ text: 'Summaries', href: list }],
    status,
    body: (
      <form method="post" action={list} class="fields narrow">
        <Mistakes form={form} />
        <Field
          name="date_from"
          label="From"
          type="date"
          form={form}
          help="The first day."
          required
        />
        <Field
          name="date_to"
          label="To"
          type="date"
          form={form}
          help="The last day; it is included."
          required
        />
        <SubmitOrCancel button="Make summary" cancel={list} />
      </form>
    ),
  });
}

type SummaryListProps = {
  summaries: readonly ShownSummary[];
  total: number;
  here: string;
  time_zone: string;
  page: number;
  limit: number;
};

/** With script the list is fetched again: a summary that was asked for appears by itself. */
function SummaryList({ summaries, total, here, time_zone, page, limit }: SummaryListProps) {
  return (
    <div
      id="summaries"
      {...(page === 1 && {
        'hx-get': here,
        'hx-trigger': 'every 5s',
        'hx-select': '#summaries',
        'hx-target': 'this',
        'hx-swap': 'outerMorph',
      })}
    >
      <PagedList
        meta={{ page, limit, total }}
        at={(other) => `${here}?page=${other}`}
        empty={
          <EmptyState title="No summary yet">
            <p>
              A summary of each calendar month is written by itself once analysis is on under
              Settings. New summary makes one of any period.
            </p>
          </EmptyState>
        }
      >
        <p class="small soft">
          {counted(total, 'summary', 'summaries')}. What customers said in a period: the score, what
          they speak of, and their words in short.
        </p>
        <DataTable
          caption="Summaries, the latest period first"
          columns={[
            { head: 'Period' },
            ...['Score', 'Answers'].map((head) => ({ head, number: true })),
            { head: 'Themes' },
            { head: 'Written' },
          ]}
          rows={summaries.toSorted(laterFirst).map((summary) => ({
            cells: [
              <a id={`summary-${summary.id}`} href={`${here}/${summary.id}`}>
                {periodText(summary, time_zone)}
              </a>,
              summary.nps === null ? 'none' : signedNps(summary.nps),
              count(summary.responses),
              summary.top_themes.join(', '),
              <Time at={summary.created_at} show="day" />,
            ],
          }))}
        />
      </PagedList>
    </div>
  );
}

/** Those of several months may be written at the same time, in any order. */
const laterFirst = (one: ShownSummary, other: ShownSummary) =>
  other.period_end.localeCompare(one.period_end);

export const compareScores = (now: number | null, before: number | null): string => {
  if (now === null) return 'No answer counted in this period.';
  if (before === null)
    return 'No answer counted in the period before, so there is nothing to compare with.';
  if (now === before) return `As in the period before: ${signedNps(before)}.`;
  const points = Math.abs(now - before);
  return `${now > before ? 'Up' : 'Down'} ${points} ${points === 1 ? 'point' : 'points'} from ${signedNps(before)} in the period before.`;
};

type ShownSummary = {
  id: string;
  period_start: string;
  period_end: string;
  nps: number | null;
  previous_nps: number | null;
  responses: number;
  top_themes: string[];
  text: string;
  created_at: string;
};

type SummaryPageProps = {
  summary: ShownSummary;
  before: SummaryBefore | undefined;
  timeZone: string;
  list: string;
  responses: string;
};

function SummaryPage({ summary, before, timeZone, list, responses }: SummaryPageProps) {
  return (
    <>
      <section class="columns score" aria-labelledby="score">
        <div>
          <h2 id="score">Net Promoter Score</h2>
          <p class="now">
            <strong>{summary.nps === null ? 'none' : signedNps(summary.nps)}</strong>
          </p>
          <p>{compareScores(summary.nps, summary.previous_nps)}</p>
          <Facts
            facts={[
              ['Answers', <a href={responses}>{count(summary.responses)}</a>],
              ['Written', <Time at={summary.created_at} />],
            ]}
          />
        </div>
        <div class="prose">
          {blocksOf(summary.text).map((block) =>
            typeof block === 'string' ? (
              <p>{block}</p>
            ) : (
              <ul>
                {block.map((quote) => (
                  <li>{quote}</li>
                ))}
              </ul>
            ),
          )}
          {summary.top_themes.length > 0 ? (
            <p class="tags">
              {summary.top_themes.map((name) => (
                <Tag name={name} />
              ))}
            </p>
          ) : null}
        </div>
      </section>
      {before ? <SinceBefore {...{ summary, before, timeZone, list }} /> : null}
    </>
  );
}

const listMark = '- ';

/** The paragraphs of a summary; lines of a list that follow each other are one block. */
function blocksOf(text: string): (string | string[])[] {
  const blocks: (string | string[])[] = [];
  for (const line of text.split(/\n+/).filter((each) => each.trim() !== '')) {
    const list = blocks.at(-1);
    if (!line.startsWith(listMark)) blocks.push(line);
    else if (Array.isArray(list)) list.push(line.slice(listMark.length));
    else blocks.push([line.slice(listMark.length)]);
  }
  return blocks;
}

type SinceProps = {
  summary: ShownSummary;
  before: SummaryBefore;
  timeZone: string;
  list: string;
};

function SinceBefore({ summary, before, timeZone, list }: SinceProps) {
  const gone = before.top_themes.filter((name) => !summary.top_themes.includes(name));
  const added = summary.top_themes.filter((name) => !before.top_themes.includes(name));
  return (
    <section aria-labelledby="since">
      <div class="title">
        <h2 id="since">Since the last summary</h2>
        <a class="more" href={`${list}/${before.id}`}>
          {periodText(before, timeZone)}
        </a>
      </div>
      <Facts
        facts={[
          ['Score', `${shown(before.nps)} then, ${shown(summary.nps)} now`],
          [
            'Answers',
            `${counted(before.responses, 'answer')} then, ${count(summary.responses)} now`,
          ],
          ['New themes', added.length > 0 ? added.join(', ') : 'none'],
          ['No longer among the first', gone.length > 0 ? gone.join(', ') : 'none'],
        ]}
      />
    </section>
  );
}

const shown = (nps: number | null) => (nps === null ? 'none' : signedNps(nps));

type Period = { period_start: Date | string; period_end: Date | string };

/** A period by its first and last day, in the organization's time zone: `October 2026`, `1 to 14 October 2026`. */
export function periodText({ period_start, period_end }: Period, timeZone: string): string {
  const form = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone });
  const [first, last] = [new Date(period_start), new Date(new Date(period_end).getTime() - 1)];
  if (isWholeMonth({ first, end: new Date(period_end) }, timeZone)) {
    return new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone }).format(
      first,
    );
  }
  const [from, to] = [form.format(first), form.format(last)];
  return from === to ? from : `${from} to ${to}`;
}

/** The responses of a period, as filters of their list: by whole days wherever it has these. */
export function periodFilters({ period_start, period_end }: Period, timeZone: string) {
  const [first, end] = [new Date(period_start), new Date(period_end)];
  const last = new Date(end.getTime() - 1);
  const day = new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone });
  const isMidnight = (at: Date) =>
    startOfLocalDay(day.format(at), timeZone).getTime() === at.getTime();
  const hasWholeDays = isMidnight(first) && isMidnight(end);
  const text = (at: Date) => (hasWholeDays ? day.format(at) : at.toISOString());
  return new URLSearchParams({ date_from: text(first), date_to: text(last) });
}

function isWholeMonth({ first, end }: { first: Date; end: Date }, timeZone: string): boolean {
  const form = new Intl.DateTimeFormat('en-CA', {
    ...({ year: 'numeric', month: '2-digit', day: '2-digit' } as const),
    ...({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone } as const),
  });
  const parts = (at: Date) =>
    Object.fromEntries(form.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const [from, to] = [parts(first), parts(end)];
  const atMidnight = [from, to].every(
    (at) => at['day'] === 1 && at['hour'] === 0 && at['minute'] === 0,
  );
  const months = (to['year']! - from['year']!) * 12 + to['month']! - from['month']!;
  return atMidnight && months === 1;
}
