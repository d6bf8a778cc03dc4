import * as v from 'valibot';
import { commandWriter } from '../audit/actor.ts';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { readContacts } from '../contacts/import.ts';
import { warnWithoutJobs } from '../jobs-process.ts';
import { columns, command } from '../lib/cli/command.ts';
import { flag, id, option } from '../lib/cli/options.ts';
import { createProgress } from '../lib/cli/progress.ts';
import { readTextFile } from '../lib/cli/read-file.ts';
import type { Db } from '../lib/db/db.ts';
import { serviceLog } from '../log-fields.ts';
import type { Config } from '../settings/config.ts';
import { getSurvey } from '../surveys/manage.queries.ts';
import { createClaimedMails } from './mail-job.ts';
import { type ContactResult, createSendProgress, sendSurvey, trySend } from './send.ts';

export const sendFile = command({
  name: 'survey send',
  does: 'sends a survey to the contacts of a CSV file; the running service mails them',
  options: {
    survey: id('which survey'),
    file: option(
      v.string(),
      'FILE',
      'CSV with a header row: email, name; others become properties; - is standard input',
    ),
    'dry-run': flag('say what would be sent; write and send nothing'),
  },
  operands: ['file'],
  run: (tools: CommandTools, { survey, file, 'dry-run': dryRun }) =>
    inDatabase(tools, async (db, config) => {
      const { text, encoding, name } = await readTextFile(file);
      if (encoding !== 'UTF-8') tools.say(`${name} is read as ${encoding}`);
      const { org_id: orgId } = await getSurvey(db, survey);
      const contacts = readContacts(text);
      const deadline = config.sendDeadlineSeconds;
      const then = `start \`askback serve\` within ${deadline} seconds, or no mail goes out`;
      if (!dryRun) await warnWithoutJobs(tools, db, then);
      const results = await sendAll({ db, config }, { orgId, surveyId: survey, contacts, dryRun });
      const data = { survey_id: survey, dry_run: dryRun, ...summary(results), results };
      return { data, text: resultText(results, dryRun) };
    }),
});

type FileSend = {
  orgId: string;
  surveyId: string;
  contacts: readonly unknown[];
  dryRun: boolean;
};

/** As many requests as the API would take for so many contacts, one after the other. */
async function sendAll({ db, config }: { db: Db; config: Config }, send: FileSend) {
  const { orgId, surveyId, contacts, dryRun } = send;
  const log = serviceLog({ level: config.logLevel });
  const progress = await createSendProgress({ db, log });
  const tools = { db, progress, claimedMails: createClaimedMails() };
  const onProgress = createProgress('contacts');
  const results: ContactResult[] = [];
  try {
    for (let done = 0; done < contacts.length; done += config.maxContacts) {
      const some = contacts.slice(done, done + config.maxContacts);
      const request = { surveyId, contacts: some, traceparent: null };
      const act = dryRun ? trySend : sendSurvey;
      results.push(
        ...(await act({ ...tools, settings: config }, commandWriter(orgId), request)).results,
      );
      onProgress(results.length, contacts.length);
    }
    return results;
  } finally {
    await progress.stop();
  }
}

function summary(results: readonly ContactResult[]) {
  const count = (status: ContactResult['status']) =>
    results.filter((result) => result.status === status).length;
  return {
    sent: count('sent'),
    duplicates: count('duplicate'),
    invalid: count('invalid'),
    failed: count('failed'),
  };
}

function resultText(results: readonly ContactResult[], dryRun: boolean): string {
  const { sent, duplicates, invalid, failed } = summary(results);
  const others = `${duplicates} duplicates, ${invalid} invalid, ${failed} failed`;
  const head = `${dryRun ? 'would be sent' : 'sent'}: ${sent}; ${others}`;
  const rows = results
    .filter(({ status }) => status !== 'sent')
    .map(({ email, status, reason }) => [email, status, reason ?? null]);
  const late = results.filter(({ reason_code }) => reason_code === 'deadline');
  const isIdle = late.length > 0 && sent === 0;
  return [
    head,
    ...(rows.length > 0 ? [columns([['email', 'status', 'reason'], ...rows])] : []),
    ...(isIdle ? ['no mail was sent in time: is `askback serve` running?'] : []),
  ].join('\n');
}
