/** Points at which a sending process can be killed. */
export const points = [
  'before the claim commits',
  'after the claim',
  'before DATA',
  'after the 250',
  'after the record',
] as const;

export type Point = (typeof points)[number];

/** The reason for the mails: a request, a campaign, a reminder or a later round. */
export const causes = ['send', 'campaign', 'reminder', 'round'] as const;
export type Cause = (typeof causes)[number];

/** The survey, and the addresses to mail. */
export type Order = { orgId: string; surveyId: string; emails: string[]; cause: Cause };

export type Place = { databaseUrl: string; smtpUrl: string };

/** Kills the process when it reaches this point for the nth time. */
export type Doom = Place & Order & { poolId: string; point: Point; nth: number };
