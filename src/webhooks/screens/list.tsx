import { counted, DataTable, EmptyState } from '../../web/app/lists.tsx';
import { Breakable, State, Time } from '../../web/app/marks.tsx';
import type { WebhookRow } from '../queries.ts';
import { webhookTexts } from '../screen-texts.ts';
import { shortUrl, standingOf } from './delivery.rules.ts';

type WebhookListProps = { webhooks: readonly WebhookRow[]; here: string; mayChange: boolean };

export function WebhookList({ webhooks, here, mayChange }: WebhookListProps) {
  if (webhooks.length === 0) {
    return (
      <EmptyState title={webhookTexts.none}>
        <p>{webhookTexts.noneMeans}</p>
        {mayChange ? null : <p class="small soft">An editor or owner can make one.</p>}
      </EmptyState>
    );
  }
  return (
    <>
      <p class="small soft">
        {counted(webhooks.length, 'webhook')}. {webhookTexts.about}
      </p>
      <DataTable
        caption="Webhooks, newest first"
        columns={[
          { head: 'Address' },
          { head: 'State' },
          { head: 'Events' },
          { head: 'Last delivery' },
        ]}
        rows={webhooks.map((webhook) => ({ cells: cellsOf(webhook, here) }))}
      />
    </>
  );
}

function cellsOf(webhook: WebhookRow, here: string) {
  const { kind, text } = standingOf(webhook);
  return [
    <>
      <a href={`${here}/${webhook.id}`}>
        <Breakable text={shortUrl(webhook.url)} />
      </a>
      {webhook.description ? (
        <span class="small soft block">
          <bdi>{webhook.description}</bdi>
        </span>
      ) : null}
    </>,
    <>
      <State kind={kind}>{text}</State>
      {webhook.deactivated_reason ? (
        <span class="small soft block">{webhook.deactivated_reason}</span>
      ) : null}
    </>,
    webhook.events.join(', '),
    webhook.last_delivery_at ? <Time at={webhook.last_delivery_at} show="ago" /> : 'none yet',
  ];
}
