import { createLog } from './lib/log/log.ts';

/**
 * What a line of the log may have in addition to its message and the fields of the libraries. Ids, counts and words
 * of the service itself: no address, no name, no comment, no token, nothing that a server or a database said.
 */
const fields = [
  'event',
  'type',
  'category',
  'held',
  'outcome',
  'delivery_id',
  'send_id',
  'response_id',
  'webhook_id',
  'survey_id',
  'org_id',
] as const;

type Field = (typeof fields)[number];

declare module './lib/log/log.ts' {
  interface LogFields extends Partial<Record<Field, LogValue>> {}
}

export const serviceLog = (options: Omit<Parameters<typeof createLog>[0], 'fields'>) =>
  createLog({ ...options, fields });
