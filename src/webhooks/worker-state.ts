import type { Outcome } from './deliver.ts';
import type { Lane } from './delivery.queries.ts';

/** What this process knows of a webhook that it delivers to. */
export type WebhookQueue = Lane & {
  inFlight: number;
  /** Claimed and not recorded yet: what this process knows of. */
  inHand: Set<string>;
  filling: boolean;
  fillAgain: boolean;
  outcomes: Outcome[];
  recording: boolean;
  /** Claims nothing until outcomes are written. */
  heldBack: boolean;
  /** The last look found less than it would have taken: what comes later has a job that wakes us. */
  drained: boolean;
  tryingAgain: boolean;
};

export const newQueue = ({ org_id, webhook_id }: Lane): WebhookQueue => ({
  org_id,
  webhook_id,
  inFlight: 0,
  inHand: new Set(),
  filling: false,
  fillAgain: false,
  outcomes: [],
  recording: false,
  heldBack: false,
  drained: false,
  tryingAgain: false,
});
