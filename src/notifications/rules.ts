/** What a member can be notified of when it occurs. */
export const notificationKinds = [
  'detractor',
  'held',
  'webhook_off',
  'limit_near',
  'limit_reached',
  'campaign_finished',
  'assigned',
] as const;
export type NotificationKind = (typeof notificationKinds)[number];

/** What an organization can have posted to a channel. An assignment concerns one member alone. */
export const slackKinds = notificationKinds.filter((kind) => kind !== 'assigned');

export const digests = ['none', 'day', 'week'] as const;
export type Digest = (typeof digests)[number];
