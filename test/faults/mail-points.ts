/** Where a process that sends can be struck down. */
export const points = [
  'before the claim commits',
  'after the claim',
  'before DATA',
  'after the 250',
  'after the record',
  'nowhere',
] as const;

export type Point = (typeof points)[number];
export type Orders = {
  databaseUrl: string;
  smtpUrl: string;
  point: Point;
  orgId: string;
  surveyId: string;
  /** To claim and mail; without any, the jobs that are left are run. */
  emails: string[];
};
