import { join } from 'node:path';
import * as v from 'valibot';
import { type CommandTools, inDatabase } from '../command-tools.ts';
import { type Command, columns, command } from '../lib/cli/command.ts';
import { Email, id, option, optional } from '../lib/cli/options.ts';
import { writeTextFile } from '../lib/cli/write-file.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { getOrganization } from '../organizations/queries.ts';
import { publicUrlOf } from '../service-record.ts';
import { type HistoryRow, listHistory } from './history.queries.ts';
import { previewMail } from './preview.ts';
import { sendFile } from './send.cli.ts';

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
      const { subject, html, text } = await previewMail(db, { surveyId, publicUrl, language });
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
