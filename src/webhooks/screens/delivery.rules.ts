import type { StateKind } from '../../web/app/marks.tsx';

export type ExplainedDelivery = {
  status: 'pending' | 'delivered' | 'failed' | 'skipped';
  attempts: number;
  status_code: number | null;
  /** Of the last attempt. */
  error: string | null;
};

/** How a delivery stands, in a word and its mark. */
export const deliveryStates = {
  pending: { kind: 'waiting', text: 'Waiting' },
  delivered: { kind: 'fine', text: 'Delivered' },
  failed: { kind: 'failed', text: 'Failed' },
  skipped: { kind: 'skipped', text: 'Skipped' },
} as const satisfies Record<ExplainedDelivery['status'], { kind: StateKind; text: string }>;

/** Why a delivery stands as it does, in one sentence. */
export function explain({ status, attempts, status_code, error }: ExplainedDelivery): string {
  const result = resultOf({ status_code, error });
  switch (status) {
    case 'delivered':
      return attempts === 1
        ? 'Delivered at the first attempt.'
        : `Delivered at attempt ${attempts}.`;
    case 'skipped':
      return attempts === 0
        ? 'Not delivered: the webhook was switched off when this happened. Replay delivers it once the webhook is on.'
        : `Not delivered: ${attempts === 1 ? 'an attempt' : `${attempts} attempts`} failed, the last with: ${result}; then the webhook was switched off. Replay delivers it once the webhook is on.`;
    case 'failed':
      return `Not delivered: ${attempts === 1 ? 'the attempt' : `${attempts} attempts`} failed, the last with: ${result}. It is not tried again by itself; Redeliver tries it now.`;
    case 'pending':
      return attempts === 0
        ? 'Not delivered yet: the first attempt is about to begin or under way.'
        : `Not delivered yet: attempt ${attempts} failed with: ${result}. The next one follows by itself.`;
  }
}

/** The outcome of an attempt: the status that was answered, or why there was none. */
export const resultOf = ({
  status_code,
  error,
}: Pick<ExplainedDelivery, 'status_code' | 'error'>) =>
  error ?? (status_code === null ? 'no answer' : `status ${status_code}`);

/** The id of the response that an event is about. No text in the event can look like it: its quotes are escaped. */
export const responseIdOf = (body: string): string | undefined =>
  /"responseId":"([0-9a-f-]{36})"/.exec(body)?.[1];

export type StandingWebhook = {
  active: boolean;
  failure_count: number;
  deactivated_reason: string | null;
  last_delivery_at: Date | null;
};

/** How a webhook stands, in a line. */
export function standingOf(webhook: StandingWebhook): { kind: StateKind; text: string } {
  if (!webhook.active) return { kind: 'failed', text: 'Off' };
  if (webhook.failure_count > 0) return { kind: 'warning', text: 'On, and failing' };
  if (!webhook.last_delivery_at) return { kind: 'waiting', text: 'On, nothing delivered yet' };
  return { kind: 'fine', text: 'On, and working' };
}

/** The host and path of an address; what follows may be a secret of the receiver. */
export function shortUrl(url: string): string {
  const { host, pathname } = new URL(url);
  return pathname === '/' ? host : host + pathname;
}
