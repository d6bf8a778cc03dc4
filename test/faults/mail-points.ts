/** Where a process that sends can be struck down. */
export const points = [
  'before the claim commits',
  'after the claim',
  'before DATA',
  'after the 250',
  'after the record',
] as const;

export type Point = (typeof points)[number];

/** Cause of the emails: a request, a campaign, or a reminder. */
export const causes = ['send', 'campaign', 'reminder'] as const;
export type Cause = (typeof causes)[number];

/** Which survey goes to which address. */
export type Order = { orgId: string; surveyId: string; emails: string[]; cause: Cause };

export type Place = { databaseUrl: string; smtpUrl: string };

/** The point at which a process dies, when it comes there for the nth time. */
export type Doom = Place & Order & { poolId: string; point: Point; nth: number };
