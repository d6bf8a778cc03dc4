import { advanceCampaign } from '../../../src/campaigns/advance.ts';
import type { CampaignResult } from '../../../src/campaigns/api.ts';
import { pauseRefusedCampaign } from '../../../src/campaigns/campaign.ts';
import { listResults } from '../../../src/campaigns/results.ts';
import type { Db } from '../../../src/lib/db/db.ts';
import { createLog } from '../../../src/lib/log/log.ts';
import { readList } from '../../../src/lib/paging/page.ts';
import type { MailOutcome } from '../../../src/lib/smtp/connection.ts';
import type { Mailer } from '../../../src/sends/mail-job.ts';
import { createMailJobs } from '../../../src/sends/mail-job.ts';
import type { ClaimedMail } from '../../../src/sends/queries.ts';
import { accepted, lost } from './mail-outcomes.ts';

type Job = { id: string; task: string; payload: never; run_at: Date | null };

/** Outcome of each email. All are accepted by default. */
export type Says = (mail: ClaimedMail) => MailOutcome | Promise<MailOutcome>;

/** Deferred mails use the machine's clock. With a test clock ahead of it they are due again at once. */
const mostRoundsAhead = 4;

/** Runs the campaign jobs of an organization without the queue, by a clock that the test sets. */
export function campaignRunner(db: Db, orgId: string, { says = accepted as Says } = {}) {
  const mailed: ClaimedMail[] = [];
  const clock = { at: new Date() };
  const mailer: Mailer = {
    concurrency: 20,
    send: async (mail, { mayLeave }) => {
      if (!(await mayLeave())) return lost();
      mailed.push(mail);
      return await says(mail);
    },
  };
  const log = createLog({ level: 'silent' });
  const mailJobs = createMailJobs({
    db,
    log,
    mailer,
    progress: { report: async () => {} },
    settings: { sendDeadlineSeconds: 60 },
    pauseCampaign: (orgId, batch) => pauseRefusedCampaign({ db, log, orgId }, batch),
  });
  const tools = { db, now: () => clock.at };

  async function run({ task, payload }: Pick<Job, 'task' | 'payload'>) {
    const job = payload as {
      org_id: string;
      mail_ids: string[];
      campaign_id: string;
      turn: number;
      stuck_since?: string;
    };
    if (task === 'sends.mail') {
      await mailJobs.run(job.org_id, job.mail_ids, null, job.stuck_since);
    }
    if (task === 'campaigns.advance') await advanceCampaign(tools, job);
  }

  /** Runs due jobs until there are none, except jobs of the tasks in `without`. */
  async function work({ without = [] as string[] } = {}) {
    for (let ahead = 0; ; ) {
      const jobs = await db<Job[]>`
        delete from test.jobs
        where payload ->> 'org_id' = ${orgId} and (run_at = created_at or run_at <= ${clock.at})
          and task <> all (${without}::text[])
        returning id, task, payload, run_at`;
      if (jobs.length === 0) return;
      if (jobs.some(isPutOff)) ahead += 1;
      if (ahead > mostRoundsAhead) throw tooFarAhead(clock.at);
      await Promise.all(jobs.map(run));
    }
  }

  return {
    tools,
    mailed,
    clock,
    work,
    mailJobs,
    later: (ms: number) => {
      clock.at = new Date(clock.at.getTime() + ms);
    },
    /** Runs due jobs and advances the clock by a second, for the given time. */
    async workFor(seconds: number) {
      for (let second = 0; second <= seconds; second++) {
        await work();
        clock.at = new Date(clock.at.getTime() + 1000);
      }
    },
  };
}

const isPutOff = ({ task, run_at }: Job) =>
  task === 'sends.mail' && run_at !== null && run_at > new Date();

const tooFarAhead = (at: Date) =>
  new Error(
    `mails were put off ${mostRoundsAhead} times in one go: the clock of the test, ${at.toISOString()}, is ahead of the machine's, by which they are put off`,
  );

export async function makeContacts(
  db: Db,
  { orgId, surveyId }: { orgId: string; surveyId: string },
  { count, status = 'pending' }: { count: number; status?: string },
) {
  const made = await db<{ id: string; email: string }[]>`
    insert into contacts (org_id, survey_id, email, token, status)
    select ${orgId}, ${surveyId}, 'p' || n || '-' || ${surveyId} || '@people.test',
           replace(gen_random_uuid()::text, '-', ''), ${status}
    from generate_series(1, ${count}) as n
    returning id, email`;
  await db`
    insert into people (org_id, email)
    select org_id, email from contacts where survey_id = ${surveyId}
    on conflict do nothing`;
  return [...made];
}

export async function allResults(db: Db, orgId: string, campaignId: string) {
  const page = { page: 1, limit: 1000, ignored: [] };
  const list = listResults(db, orgId, { campaignId, page });
  return (await readList<CampaignResult>(db, list)).data;
}
