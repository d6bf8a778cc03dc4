import { join } from 'node:path';
import * as v from 'valibot';
import { databaseCommand, orgOption } from '../command-tools.ts';
import { messageIdOf } from '../letters/letter.ts';
import { columns, Email, id, option, optional } from '../lib/cli/command.ts';
import { writeTextFile } from '../lib/cli/files.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { publicUrlOf } from '../open-database.ts';
import { type HistoryRow, listHistory } from '../people/timeline.ts';
import { getSurvey } from '../surveys/queries.ts';
import { previewMail } from './screens/preview.tsx';

const preview = databaseCommand({
  name: 'mail preview',
  does: "writes a survey's email to an HTML and a text file",
  options: {
    survey: id('the survey'),
    language: optional(v.string(), 'TAG', "language of the email (the survey's own)"),
    out: optional(v.string(), 'DIR', 'output folder (the current one)'),
  },
  async run(db, { survey: surveyId, language, out = '.' }, { config }) {
    const publicUrl = (await publicUrlOf(db, config)) ?? 'http://localhost';
    const { org_id: orgId } = await getSurvey(db, surveyId);
    const mail = await previewMail(db, { orgId, surveyId, publicUrl, language });
    const html_file = join(out, `mail-${surveyId}.html`);
    const text_file = join(out, `mail-${surveyId}.txt`);
    writeTextFile(html_file, mail.html);
    writeTextFile(text_file, mail.text);
    return {
      data: { subject: mail.subject, html_file, text_file },
      text: `${html_file}\n${text_file}`,
    };
  },
});

const why = databaseCommand({
  name: 'contact why',
  does: 'shows everything that happened to an address, and which rule blocked an email',
  options: {
    org: orgOption('the organization'),
    email: option(Email, 'E', 'the address'),
  },
  async run(db, { org, email }, { config }) {
    const publicUrl = (await publicUrlOf(db, config)) ?? 'http://localhost';
    const history = await listHistory(db, org, addressKey(email));
    const events = history.map(({ mail_id, ...event }) => {
      return { ...event, message_id: mail_id && messageIdOf(mail_id, publicUrl) };
    });
    return { data: { email, events }, text: historyText(email, events, config.traceUrl) };
  },
});

export const sendCommands = [preview, why];

function historyText(
  email: string,
  events: readonly (Omit<HistoryRow, 'mail_id'> & { message_id: string | null })[],
  traceUrl: string | null,
): string {
  if (events.length === 0) return `no history of ${email} in this organization`;
  const traceOf = (id: string) => traceUrl?.replaceAll('{trace_id}', id) ?? id;
  const rows = events.map(({ at, what, survey_name, round, reason_code, reason, ...mail }) => [
    at.toISOString(),
    what.replaceAll('_', ' '),
    Number(round) > 1 ? `${survey_name}, round ${round}` : survey_name,
    [reason_code && `[${reason_code}]`, reason].filter(Boolean).join(' ') || null,
    mail.message_id && `<${mail.message_id}>`,
    mail.server_reply,
    mail.trace_id && traceOf(mail.trace_id),
  ]);
  const head = ['when', 'what', 'survey', 'reason', 'message id', 'server reply', 'trace'];
  return columns([head, ...rows]);
}
