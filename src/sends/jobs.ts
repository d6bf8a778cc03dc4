import type { NewJob } from '../jobs.ts';

/** One job for a whole request, unless an operator allows larger ones. */
const mailsPerJob = 1000;

type JobOwner = { orgId: string; traceparent: string | null };

/** The jobs that send claimed mails. */
export function jobsOf({ orgId, traceparent }: JobOwner, mailIds: readonly string[]): NewJob[] {
  const jobs: NewJob[] = [];
  for (let from = 0; from < mailIds.length; from += mailsPerJob) {
    const mail_ids = mailIds.slice(from, from + mailsPerJob);
    jobs.push({ task: 'sends.mail', payload: { org_id: orgId, mail_ids }, traceparent });
  }
  return jobs;
}
