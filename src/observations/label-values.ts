import { payloads, runnerGroups } from '../jobs.ts';
import type { HeldReason } from '../responses/rules.ts';
import type { Category } from '../scores.ts';
import type { ReasonCode } from '../sends/rules.ts';
import { analyzeTask } from '../summaries/comment-reader.ts';
import { eventTypes } from '../webhooks/events.ts';

/** The values that labels can have, each list as long as the words that rooms use. */
export const channels = ['webhook', 'mail'];
export const runners = Object.keys(runnerGroups);
export const categories = names<Category>({ promoter: 1, passive: 1, detractor: 1 });
export const events = eventTypes.map(({ type }) => type);
export const heldReasons = names<HeldReason>({
  hidden_field: 1,
  hidden_link: 1,
  scores_opened: 1,
  scores_posted: 1,
});
export const tasks = [...Object.keys(payloads), analyzeTask];
export const mailReasons = names<ReasonCode | 'refused' | 'deadline' | ''>({
  '': 1,
  invalid_email: 1,
  invalid_contact: 1,
  repeated: 1,
  already_sent: 1,
  in_flight: 1,
  unknown_outcome: 1,
  unsubscribed: 1,
  bounced: 1,
  erased: 1,
  frequency: 1,
  refused: 1,
  deadline: 1,
});
/** What OpenTelemetry calls a method that HTTP does not know. */
export const otherMethod = '_OTHER';
export const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', otherMethod];

/** A list that the compiler knows to be whole. */
function names<Name extends string>(all: Readonly<Record<Name, 1>>): readonly string[] {
  return Object.keys(all);
}
