import { randomUUID } from 'node:crypto';
import type { Actor, Writer } from '../audit/actor.ts';
import { Refusal } from '../errors.ts';
import { enqueue, type JobPayloads } from '../jobs.ts';
import type { Db } from '../lib/db/db.ts';
import { getOrganization } from '../organizations/queries.ts';
import { endOfDay, type SummaryPeriod, startOfDay } from './period.queries.ts';
import { countUnanalyzed } from './queries.ts';
import { type SummaryTools, summarize } from './summarize.ts';

type MakeTools = { db: Db };

/** Days by the organization's own clock, both included. */
export type SummaryDays = { from: string; to: string };

export async function periodOfDays(
  db: Db,
  timeZone: string,
  { from, to }: SummaryDays,
): Promise<SummaryPeriod> {
  if (from > to) {
    throw new Refusal('invalid', 'The first day must not be after the last', {
      code: 'period_backwards',
    });
  }
  return { start: await startOfDay(db, timeZone, from), end: await endOfDay(db, timeZone, to) };
}

/** Has a summary made by a job: an analyst may take long for its words. Returns the id that it will have. */
export async function requestSummary(
  { db }: MakeTools,
  { orgId, actor }: Writer,
  { start, end }: SummaryPeriod,
): Promise<string> {
  const id = randomUUID();
  const payload = {
    org_id: orgId,
    summary_id: id,
    actor: asPayload(actor),
    period_start: start.toISOString(),
    period_end: end.toISOString(),
    waits: 0,
  };
  await enqueue(db, [{ task: 'summaries.make', payload, traceparent: null }]);
  return id;
}

const asPayload = ({ kind, id, name, requestId }: Actor) => ({
  kind,
  id,
  name,
  ...(requestId !== undefined && { requestId }),
});

const waitMs = 10_000;

/** The job. As often as its payload says, it waits for comments of the period that are still to be read. */
export async function makeSummary(
  tools: SummaryTools,
  job: JobPayloads['summaries.make'],
  traceparent: string | null,
) {
  const organization = await getOrganization(tools.db, job.org_id);
  const period = { start: new Date(job.period_start), end: new Date(job.period_end) };
  if (
    job.waits > 0 &&
    (await countUnanalyzed(tools.db, job.org_id, { ...period, askedAt: null }))
  ) {
    const payload = { ...job, waits: job.waits - 1 };
    const runAt = new Date(Date.now() + waitMs);
    return await enqueue(tools.db, [{ task: 'summaries.make', payload, runAt, traceparent }]);
  }
  const { kind, id, name, requestId } = job.actor;
  const actor = { kind, id, name, requestId };
  const wish = { organization, period, scheduled: false, actor, id: job.summary_id, traceparent };
  await summarize(tools, wish);
}
