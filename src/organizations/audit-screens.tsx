import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { actorKinds } from '../audit/actor.ts';
import { type Act, acts } from '../audit/acts.ts';
import { exportEvents } from '../audit/export.ts';
import { type AuditEventRow, type AuditFilter, listEvents } from '../audit/queries.ts';
import { OneOf } from '../lib/cli/options.ts';
import type { Db } from '../lib/db/db.ts';
import { Page, parseList } from '../lib/paging/page.ts';
import { readList } from '../lib/paging/paged-json.ts';
import { isInCalendar } from '../lib/validation/calendar.ts';
import { requireRole, type ScreenEnv } from '../sessions/session.ts';
import type { FormState } from '../web/app/read-form.ts';
import { renderSettings } from '../web/app/settings-screen.tsx';
import { AuditList, type AuditQuery } from './audit-list.tsx';

const dayMs = 86_400_000;

/** A field that was left empty is no filter. */
const filled = <const S extends v.GenericSchema<string, unknown>>(schema: S) =>
  v.optional(
    v.union([
      v.pipe(
        v.literal(''),
        v.transform(() => undefined),
      ),
      schema,
    ]),
  );

const Day = v.pipe(
  v.string(),
  v.isoDate('must be a day such as 2027-01-31'),
  v.check(isInCalendar, 'must be a day that exists'),
);

const AuditParameters = v.object({
  ...Page.entries,
  date_from: filled(Day),
  date_to: filled(Day),
  actor: filled(OneOf(actorKinds)),
  act: filled(OneOf(Object.keys(acts) as Act[])),
});

/** Settings, Audit: below `/o/:slug/settings/audit`, for owners. */
export const auditScreens = ({ db }: { db: Db }) =>
  new Hono<ScreenEnv>()
    .get('/', async (c) => {
      const { orgId } = requireRole(c, 'owner');
      const { page, filter, query, form } = read(c);
      const listed = await readList<AuditEventRow>(db, listEvents(db, orgId, { filter, page }));
      const { total } = (listed as unknown as { meta: { total: number } }).meta;
      const shown = { events: listed.data, total, ...page, query, form };
      const body = <AuditList slug={c.var.organization.slug} {...shown} />;
      return renderSettings(c, { setting: 'audit', body });
    })

    .get('/export', (c) => {
      const { orgId } = requireRole(c, 'owner');
      const { filter } = read(c);
      const lines = exportEvents(db, orgId, filter);
      return c.body(ReadableStream.from(encoded(lines)) as ReadableStream, 200, {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': 'attachment; filename="audit.csv"',
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
      });
    });

function read(c: Context) {
  const { date_from, date_to, actor, act, ...page } = parseList(AuditParameters, c.req.queries());
  const isReversed = date_from !== undefined && date_to !== undefined && date_to < date_from;
  const filter: AuditFilter = {
    from: date_from ? new Date(date_from) : null,
    to: date_to && !isReversed ? new Date(Date.parse(date_to) + dayMs) : null,
    actor: actor ?? null,
    act: act ?? null,
  };
  const query: AuditQuery = { date_from, date_to, actor, act };
  const form: FormState = isReversed
    ? { typed: { date_from, date_to }, errors: { date_to: 'This day is before the first one.' } }
    : { typed: {}, errors: {} };
  return { page, filter, query, form };
}

async function* encoded(lines: AsyncIterable<string>) {
  const encoder = new TextEncoder();
  for await (const text of lines) yield encoder.encode(text);
}
