import { createLog } from './lib/log/log.ts';

/**
 * The allowed log fields besides the message and the fields of the libraries. Only ids, counts and our own words: no
 * addresses, names, comments, tokens, or messages of servers and databases.
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
