import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { parsePage } from '../../lib/paging/page.ts';
import { readJson } from '../../lib/paging/paged-json.ts';
import { isInCalendar } from '../../lib/validation/calendar.ts';
import { isUuid } from '../../lib/validation/parse.ts';
import { getOrganization } from '../../organizations/queries.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { Field } from '../../web/app/fields.tsx';
import { flash } from '../../web/app/flash.ts';
import { Mistakes } from '../../web/app/marks.tsx';
import { emptyForm, type FormState, readForm } from '../../web/app/read-form.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import { periodOfDays, requestSummary } from '../make.ts';
import { findUsualDays } from '../period.queries.ts';
import { findSummary, findSummaryBefore, listSummaries } from '../summary.queries.ts';
import { periodFilters, periodText } from './period-text.ts';
import { SummaryList } from './summary-list.tsx';
import { type ShownSummary, SummaryPage } from './summary-page.tsx';

type SummaryScreenTools = { db: Db };

const Day = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d{2}-\d{2}$/, 'Must be a day'),
  v.check(isInCalendar, 'There is no such day'),
);

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
      flash(c, {
        kind: 'fine',
        text: 'The summary is being written. It appears here in a moment.',
      });
      return c.redirect(pathOf(c.var.organization), 303);
    })

    .get('/:id', async (c) => {
      const { organization } = c.var;
      const id = c.req.param('id');
      if (!isUuid(id)) throw notFound('summary');
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
        <div class="actions">
          <button type="submit" class="primary">
            Make summary
          </button>
          <a class="more" href={list}>
            Cancel
          </a>
        </div>
      </form>
    ),
  });
}
