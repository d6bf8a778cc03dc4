/** Where a process that sends can be struck down. */
export const points = [
  'before the claim commits',
  'after the claim',
  'before DATA',
  'after the 250',
  'after the record',
] as const;

export type Point = (typeof points)[number];

/** Whose survey goes to whom. */
export type Order = { orgId: string; surveyId: string; emails: string[] };

export type Place = { databaseUrl: string; smtpUrl: string };

/** What the process that is to die is told: it dies when it comes to the point for the nth time. */
export type Doom = Place & Order & { poolId: string; point: Point; nth: number };
