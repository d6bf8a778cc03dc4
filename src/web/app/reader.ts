import type { Context } from 'hono';

/** What the frame of a screen shows of the member who reads it. */
export type ShownMember = { name: string; email: string; isOperator: boolean };

export type ShownOrganization = {
  name: string;
  slug: string;
  color: string;
  role: 'viewer' | 'editor' | 'owner';
  /** What the navigation counts. */
  openDetractors?: number;
  failingWebhooks?: number;
};

export type ScreenReader = {
  member: ShownMember | undefined;
  organization: ShownOrganization | undefined;
  otherOrganizations: readonly { name: string; slug: string }[];
};

/** As the middleware of the session left them; before sign-in there is nothing. */
export function readerOf(c: Context): ScreenReader {
  return {
    member: c.get('member'),
    organization: c.get('organization'),
    otherOrganizations: c.get('otherOrganizations') ?? [],
  };
}
