import { join } from 'node:path';
import * as v from 'valibot';
import { commandWriter } from '../audit/acts.ts';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { readContacts } from '../contacts/import.ts';
import {
  type Command,
  columns,
  command,
  createProgress,
  Email,
  flag,
  id,
  option,
  optional,
} from '../lib/cli/command.ts';
import { readTextFile, writeTextFile } from '../lib/cli/files.ts';
import type { Db } from '../lib/db/db.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { serviceLog } from '../log-fields.ts';
import { publicUrlOf, warnWithoutJobs } from '../open-database.ts';
import { getOrganization } from '../organizations/queries.ts';
import type { Config } from '../settings.ts';
import { getSurvey } from '../surveys/queries.ts';
import { type HistoryRow, listHistory } from './queries.ts';
import { previewMail } from './screens/preview.tsx';
import {
  type ContactResult,
  countResults,
  createSendProgress,
  sendSurvey,
  trySend,
} from './send.ts';

const preview = command({
  name: 'mail preview',
  does: "writes both parts of a survey's mail to files, to be looked at before it is sent",
  options: {
    survey: id('whose mail'),
    language: optional(v.string(), 'TAG', 'in which of its languages (its own)'),
    out: optional(v.string(), 'DIR', 'where the files go (the current folder)'),
  },
  run: (tools: CommandTools, { survey: surveyId, language, out = '.' }) =>
    inDatabase(tools, async (db, config) => {
      const publicUrl = (await publicUrlOf(db, config)) ?? 'http://localhost';
      const { org_id: orgId } = await getSurvey(db, surveyId);
      const mail = { orgId, surveyId, publicUrl, language };
      const { subject, html, text } = await previewMail(db, mail);
      const data = {
        subject,
        html_file: write(join(out, `mail-${surveyId}.html`), html),
        text_file: write(join(out, `mail-${surveyId}.txt`), text),
      };
      return { data, text: `${data.html_file}\n${data.text_file}` };
    }),
});

const why = command({
  name: 'contact why',
  does: 'shows what was sent to an address, which rule blocked a mail, and what came of it',
  options: {
    org: id('of which organization'),
    email: option(Email, 'E', 'the address'),
  },
  run: (tools: CommandTools, { org, email }) =>
    inDatabase(tools, async (db, { traceUrl }) => {
      await getOrganization(db, org);
      const events = await listHistory(db, org, addressKey(email));
      return { data: { email, events }, text: historyText(email, events, traceUrl) };
    }),
});

const sendFile = command({
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
      const data = { survey_id: survey, dry_run: dryRun, ...countResults(results), results };
      return { data, text: resultText(results, dryRun) };
    }),
});

export const sendCommands: readonly Command<CommandTools>[] = [sendFile, preview, why];

function write(path: string, text: string): string {
  writeTextFile(path, text);
  return path;
}

const inWords: Record<HistoryRow['what'], string> = {
  added: 'added to the survey',
  claimed: 'waits to be sent',
  sending: 'is being sent',
  sent: 'sent',
  reminded: 'reminded',
  failed: 'not sent',
  unknown: 'outcome unknown',
  blocked: 'blocked',
  opened: 'opened the link',
  answered: 'answered',
  answer_held: 'answered, held',
  unsubscribed: 'unsubscribed',
  bounced: 'bounced',
};

function historyText(
  email: string,
  events: readonly HistoryRow[],
  traceUrl: string | null,
): string {
  if (events.length === 0) return `nothing has happened between this organization and ${email}`;
  const traceOf = (id: string) => traceUrl?.replaceAll('{trace_id}', id) ?? id;
  const traced = events.some(({ trace_id }) => trace_id !== null);
  const rows = events.map(({ at, what, survey_name, reason_code, reason, trace_id }) => [
    at.toISOString(),
    inWords[what],
    survey_name,
    [reason_code && `[${reason_code}]`, reason].filter(Boolean).join(' ') || null,
    ...(traced ? [trace_id && traceOf(trace_id)] : []),
  ]);
  return columns([['when', 'what', 'survey', 'why', ...(traced ? ['trace'] : [])], ...rows]);
}

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
  const onProgress = createProgress('contacts');
  const results: ContactResult[] = [];
  try {
    for (let done = 0; done < contacts.length; done += config.maxContacts) {
      const some = contacts.slice(done, done + config.maxContacts);
      const request = { surveyId, contacts: some, traceparent: null };
      const act = dryRun ? trySend : sendSurvey;
      results.push(
        ...(await act({ db, progress, settings: config }, commandWriter(orgId), request)).results,
      );
      onProgress(results.length, contacts.length);
    }
    return results;
  } finally {
    await progress.stop();
  }
}

function resultText(results: readonly ContactResult[], dryRun: boolean): string {
  const { sent, duplicates, invalid, failed } = countResults(results);
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
