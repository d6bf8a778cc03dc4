import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { notFound, toSentence } from '../errors.ts';
import { ScoreRange } from '../home/reasons.tsx';
import { ScoreGauge } from '../home/score.tsx';
import type { Db } from '../lib/db/db.ts';
import { parsePage, readJson } from '../lib/paging/page.ts';
import { idParam } from '../lib/validation/parse.ts';
import { requireRole, type ScreenEnv } from '../sessions/session.ts';
import { formatInterval, formatValue, signedNps } from '../survey-types.ts';
import { FormErrors, Tag, Time } from '../web/app/badges.tsx';
import { redirectWith } from '../web/app/flash.ts';
import {
  Day,
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  readForm,
  SubmitOrCancel,
  withFieldError,
} from '../web/app/forms.tsx';
import {
  count,
  counted,
  DataTable,
  EmptyState,
  Facts,
  Live,
  PagedList,
} from '../web/app/lists.tsx';
import { renderScreen } from '../web/app/screen.tsx';
import type { ShownSummary } from './api.ts';
import { blockName, changeText, isCustomersNps } from './blocks.ts';
import { findDefaultDays, findSummary, hasResponses, listSummaries } from './queries.ts';
import { daysOf, endBy, isWholeDays, lastMoment, periodOfDays, wholeMonths } from './rules.ts';
import { requestSummary } from './summarize.ts';

const PeriodForm = v.pipe(
  v.object({ date_from: Day, date_to: Day }),
  v.forward(
    v.check(({ date_from, date_to }) => date_from <= date_to, 'Must not be before the first day'),
    ['date_to'],
  ),
);

const pathOf = ({ slug }: { slug: string }) => `/o/${slug}/summaries`;

export const summaryScreens = ({ db }: { db: Db }) =>
  new Hono<ScreenEnv>()
    .get('/', async (c) => {
      const { organization } = c.var;
      const { timeZone } = organization;
      const page = parsePage(c.req.queries());
      const { data, meta } = await readJson<{ data: ShownSummary[]; meta: { total: number } }>(
        db,
        listSummaries(db, organization.id, page),
      );
      const here = pathOf(organization);
      return renderScreen(c, {
        title: 'Summaries',
        section: 'summaries',
        actions:
          organization.role === 'viewer' ? null : (
            <LinkButton href={`${here}/new`} text="New summary" kind="primary" />
          ),
        body: (
          <SummaryList
            summaries={data}
            meta={{ ...meta, ...page }}
            here={here}
            timeZone={timeZone}
          />
        ),
      });
    })

    .get('/new', async (c) => {
      const { orgId } = requireRole(c, 'editor');
      const { from, to } = await findDefaultDays(db, orgId, c.var.organization.timeZone);
      return showForm(c, emptyForm({ date_from: from, date_to: to }));
    })

    .post('/', async (c) => {
      const editor = requireRole(c, 'editor');
      const form = await readForm(c, PeriodForm);
      if (form.errors) return showForm(c, form);
      const { date_from: from, date_to: to } = form.values;
      const days = periodOfDays(c.var.organization.timeZone, from, to);
      const period = endBy(days, new Date());
      if (!(await hasResponses(db, editor.orgId, period))) {
        return showForm(c, await withFieldError(c, { date_to: 'No responses in this period.' }));
      }
      await requestSummary(db, editor, period);
      return redirectWith(
        c,
        pathOf(c.var.organization),
        'Writing your summary. It will appear here in a moment.',
      );
    })

    .get('/:id', async (c) => {
      const { organization } = c.var;
      const id = idParam(c, 'summary');
      const summary = await readJson<{ data: ShownSummary } | null>(
        db,
        findSummary(db, organization.id, id),
      );
      if (!summary) throw notFound('summary');
      const { timeZone } = organization;
      const days = periodFilters(summary.data, timeZone);
      return renderScreen(c, {
        title: periodText(summary.data, timeZone),
        section: 'summaries',
        trail: [{ text: 'Summaries', href: pathOf(organization) }],
        body: (
          <SummaryPage
            summary={summary.data}
            responses={`/o/${organization.slug}/responses?${days}`}
          />
        ),
      });
    });

function showForm(c: Context<ScreenEnv>, form: FormState) {
  const list = pathOf(c.var.organization);
  return renderScreen(c, {
    title: 'New summary',
    section: 'summaries',
    trail: [{ text: 'Summaries', href: list }],
    form,
    body: (
      <form method="post" action={list} class="card stack narrow">
        <FormErrors form={form} />
        <Field name="date_from" label="From" type="date" form={form} required />
        <Field
          name="date_to"
          label="To"
          type="date"
          form={form}
          help="The last day. If you choose today, the summary ends now."
          required
        />
        <SubmitOrCancel button="Create summary" cancel={list} />
      </form>
    ),
  });
}

type SummaryListProps = {
  summaries: readonly ShownSummary[];
  meta: { page: number; limit: number; total: number };
  here: string;
  timeZone: string;
};

/** Polls until a requested summary appears. */
function SummaryList({ summaries, meta, here, timeZone }: SummaryListProps) {
  return (
    <Live
      id="summaries"
      says={counted(meta.total, 'summary', 'summaries')}
      every={meta.page === 1 ? 5 : undefined}
      path={here}
    >
      <PagedList
        meta={meta}
        at={(other) => `${here}?page=${other}`}
        empty={
          <EmptyState title="No summaries yet" icon="file-text">
            <p>
              A summary of each month appears here when analysis of comments is on. Editors can
              write one for any other period.
            </p>
          </EmptyState>
        }
      >
        <DataTable
          caption="Summaries, the latest period first"
          columns={[
            { head: 'Period' },
            { head: 'Responses', number: true },
            { head: 'Range', phone: 'line' },
            { head: 'NPS', number: true, phone: 'beside' },
            { head: 'Themes', phone: 'line' },
            { head: 'Created', phone: 'absent' },
          ]}
          rows={summaries.toSorted(laterFirst).map((summary) => ({
            cells: [
              <a id={`summary-${summary.id}`} href={`${here}/${summary.id}`}>
                {periodText(summary, timeZone)}
              </a>,
              count(summary.responses),
              <ScoreRange type="nps" measured={{ ...summary, value: summary.nps }} />,
              <NpsCell summary={summary} />,
              summary.top_themes.join(', '),
              <Time at={summary.created_at} show="day" />,
            ],
          }))}
        />
      </PagedList>
    </Live>
  );
}

function NpsCell({ summary: { nps, interval, blocks, responses } }: { summary: ShownSummary }) {
  const scored = blocks.find(isCustomersNps)?.n ?? responses;
  return (
    <>
      <b>{nps === null ? 'none' : signedNps(nps)}</b>
      {interval ? <small class="soft block">{formatInterval('nps', interval)}</small> : null}
      {scored < responses ? (
        <small class="soft block">from {counted(scored, 'response')}</small>
      ) : null}
    </>
  );
}

/** Summaries of several months may be written at the same time, in any order. */
const laterFirst = (one: ShownSummary, other: ShownSummary) =>
  other.period_end.localeCompare(one.period_end);

function SummaryPage({ summary, responses }: { summary: ShownSummary; responses: string }) {
  const [first, ...others] = summary.blocks;
  return (
    <>
      <section class="card hero" aria-labelledby="score">
        <div class="verdict">
          <h2 id="score">{first ? blockName(first, summary.blocks) : 'Score'}</h2>
          {first ? (
            <>
              <ScoreGauge type={first.type} measured={{ ...first, value: first.score }} />
              <p>
                {toSentence(changeText(first))}{' '}
                <span class="soft">{counted(first.n, 'response')}.</span>
              </p>
            </>
          ) : (
            <p>No responses in this period.</p>
          )}
          <Facts
            facts={[
              ['All responses', <a href={responses}>{count(summary.responses)}</a>],
              ['Created', <Time at={summary.created_at} />],
            ]}
          />
        </div>
        <div class="stack tight">
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
      {others.length > 0 ? (
        <section class="card" aria-labelledby="others">
          <h2 id="others">Other scores</h2>
          <Facts
            facts={others.map((block): [string, Child] => [
              blockName(block, summary.blocks),
              <>
                {formatValue(block.type, block.score)}, {changeText(block)}
                <span class="sub block">{marginText(block)}</span>
              </>,
            ])}
          />
        </section>
      ) : null}
    </>
  );
}

const marginText = ({ type, n, interval }: ShownSummary['blocks'][number]) =>
  interval === null
    ? counted(n, 'response')
    : `${counted(n, 'response')}, 95% interval ${formatInterval(type, interval)}`;

const listMark = '- ';

/** Paragraphs, and lists as arrays. */
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

type Period = { period_start: Date | string; period_end: Date | string };

/** `October 2026`, `1 October 2026 to 14 October 2026`, with a time if the end is not at midnight. */
export function periodText({ period_start, period_end }: Period, timeZone: string): string {
  const period = { start: new Date(period_start), end: new Date(period_end) };
  const text = (options: Intl.DateTimeFormatOptions, at: Date) =>
    new Intl.DateTimeFormat('en-GB', { ...options, timeZone }).format(at);
  if (wholeMonths(period, timeZone) === 1) {
    return text({ month: 'long', year: 'numeric' }, period.start);
  }
  const from = text({ dateStyle: 'long' }, period.start);
  const to = lastMoment(period.end, timeZone);
  return from === to ? from : `${from} to ${to}`;
}

/** Filters of the response list, by whole days if possible. */
export function periodFilters({ period_start, period_end }: Period, timeZone: string) {
  const period = { start: new Date(period_start), end: new Date(period_end) };
  const days = daysOf(period, timeZone);
  return new URLSearchParams(
    isWholeDays(period, timeZone)
      ? { date_from: days.first_day, date_to: days.last_day }
      : {
          date_from: period.start.toISOString(),
          date_to: new Date(period.end.getTime() - 1).toISOString(),
        },
  );
}
