import type { Instrument } from '../lib/metrics/instrument.ts';
import { channels, runners, tasks } from './label-values.ts';

/** What is read from the database and the process when metrics are asked for. */
export const observed = [
  {
    name: 'askback_queue_jobs',
    kind: 'gauge',
    help: 'Jobs that wait in the queue, due or not.',
    labels: { task: tasks },
  },
  {
    name: 'askback_queue_oldest_seconds',
    kind: 'gauge',
    help: 'For how long the oldest waiting job has been due.',
    unit: 'seconds',
    labels: { task: tasks },
  },
  {
    name: 'askback_outbox_rows',
    kind: 'gauge',
    help: 'Jobs that were committed and not handed to the queue yet.',
    labels: {},
  },
  {
    name: 'askback_pending_deliveries',
    kind: 'gauge',
    help: 'Deliveries that are not over, and mails of jobs that are not over.',
    labels: { channel: channels },
  },
  {
    name: 'askback_pending_oldest_seconds',
    kind: 'gauge',
    help: 'The age of the oldest of those; a retry ages from when it is due.',
    unit: 'seconds',
    labels: { channel: channels },
  },
  {
    name: 'askback_webhooks',
    kind: 'gauge',
    help: 'Webhooks, by whether they are switched on.',
    labels: { state: ['active', 'inactive'] },
  },
  {
    name: 'askback_migration_step_pending',
    kind: 'gauge',
    help: 'Steps of migrations, done while the service serves, that have not ended.',
    labels: {},
  },
  {
    name: 'askback_migration_step_rows',
    kind: 'gauge',
    help: 'Rows of the step that is under way: those that are done, and how many there were about when it began. 0 when all have ended.',
    labels: { state: ['done', 'estimated'] },
  },
  {
    name: 'askback_migration_step_failures',
    kind: 'gauge',
    help: 'Failed tries of the step that is under way since its last batch.',
    labels: {},
  },
  {
    name: 'askback_runner_up',
    kind: 'gauge',
    help: 'Whether a runner of jobs is running in this process.',
    labels: { runner: runners },
  },
  {
    name: 'askback_runner_restarts_total',
    kind: 'counter',
    help: 'How often a runner of jobs ended unexpectedly and was started again.',
    labels: { runner: runners },
  },
  {
    name: 'askback_db_pool_connections',
    kind: 'gauge',
    help: 'Connections of the pool that a query or transaction has (busy), or could have at once (idle).',
    labels: { state: ['busy', 'idle'] },
  },
  {
    name: 'askback_db_pool_limit',
    kind: 'gauge',
    help: 'Connections that the pool may have.',
    labels: {},
  },
  {
    name: 'askback_db_pool_waiting',
    kind: 'gauge',
    help: 'Queries and transactions that wait for a connection, for the turn of their organization, or behind another query on one.',
    labels: {},
  },
  {
    name: 'askback_read_replica_up',
    kind: 'gauge',
    help: 'Whether reads go to the replica; 0 while it is passed over, or where there is none.',
    labels: {},
  },
  {
    name: 'askback_read_replica_lag_seconds',
    kind: 'gauge',
    help: 'How far the replica is behind the primary; 0 where there is none.',
    unit: 'seconds',
    labels: {},
  },
  {
    name: 'askback_build_info',
    kind: 'gauge',
    help: 'Always 1; the labels say what is running.',
    labels: { version: null, node: null },
  },
  {
    name: 'askback_ready',
    kind: 'gauge',
    help: 'Whether this process is ready to serve, as /readyz says.',
    labels: {},
  },
] as const satisfies readonly Omit<Instrument, 'how'>[];

/** Everything that is counted, measured or looked at. ops/metrics.md shows it; a test compares the two. */

export type ObservedName = (typeof observed)[number]['name'];
