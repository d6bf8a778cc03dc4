/** Where the webhooks of an organization are, or one of them. */
export const pathOf = ({ slug }: { slug: string }, webhookId?: string) =>
  webhookId ? `/o/${slug}/webhooks/${webhookId}` : `/o/${slug}/webhooks`;
