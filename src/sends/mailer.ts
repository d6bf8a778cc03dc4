import { type Attributes, SpanKind } from '@opentelemetry/api';
import { inLanguage, type SurveyMail, surveyFillings, surveyMail } from '../letters/letter.ts';
import { memoize } from '../lib/async/memoize.ts';
import { mailableAddress } from '../lib/smtp/address.ts';
import type { MailOutcome } from '../lib/smtp/connection.ts';
import type { DkimSigner } from '../lib/smtp/dkim.ts';
import { compose } from '../lib/smtp/message.ts';
import type { Leaving, MailTransport } from '../lib/smtp/smtp.ts';
import { errorType, type SpanDescription, type SpanEnd } from '../lib/tracing/spans.ts';
import { languageFor } from '../surveys/texts.ts';
import type { ClaimedMail } from './queries.ts';

/** Writes and sends one mail; it never throws for what the mail server does. */
export type Mailer = {
  /** How many mails are worth sending at once. */
  concurrency: number;
  /** The server that gets the mails; none for the built-in mailbox. */
  server?: MailServer;
  /** Asks `mayLeave` when the mail is about to leave: a crash before that has sent nothing. */
  send(mail: ClaimedMail, leaving: MailLeaving): Promise<MailOutcome>;
};

type MailLeaving = { signal: AbortSignal; mayLeave: () => Promise<boolean> };

type MailerTools = {
  transport: MailTransport;
  /** The server behind it; none for the mailbox. */
  server?: MailServer;
  /** How many mails are worth sending at once. */
  concurrency: number;
  publicUrl: string;
  dkim: DkimSigner | null;
  /** With one, bounces come back to an address that names the mail. */
  bounceDomain: string | null;
};

const mostTemplates = 200;

/**
 * Writes mails and sends them. A survey's mail is composed once and filled for each contact. After `stop`
 * mails that have begun go on and no other begins: those stay claimed, and their job fails and is run
 * again by another process.
 */
export function createMailer(tools: MailerTools) {
  const { transport, concurrency, server = null, publicUrl, dkim, bounceDomain } = tools;
  // A survey that was changed is another argument.
  const letterFor = memoize(mostTemplates, (mail: SurveyMail) => ({
    from: mailableAddress(mail.survey.from_email),
    fill: compose(surveyMail(mail)),
    filling: surveyFillings(mail),
  }));
  // The mails of a job share the words of their survey, in each of its languages, for each reminder.
  const letters = new WeakMap<ClaimedMail['survey'], Map<string, ReturnType<typeof letterFor>>>();

  function letterOf(claimed: ClaimedMail) {
    const language = languageFor(claimed.survey, { property: claimed.properties?.['language'] });
    const byLanguage = letters.get(claimed.survey) ?? new Map();
    const key = `${language} ${claimed.reminder}`;
    const letter = byLanguage.get(key) ?? letterFor(mailOf(claimed, { publicUrl, language }));
    letters.set(claimed.survey, byLanguage.set(key, letter));
    return letter;
  }

  const stopping = new AbortController();

  async function send(claimed: ClaimedMail, leaving: Leaving = {}): Promise<MailOutcome> {
    stopping.signal.throwIfAborted();
    const mayLeave = async () => {
      stopping.signal.throwIfAborted();
      return (await leaving.mayLeave?.()) ?? true;
    };
    const letter = letterOf(claimed);
    const to = mailableAddress(claimed.email);
    const from = bounceDomain ? returnPath(claimed.id, bounceDomain) : letter.from;
    if (!to) return undeliverable('the address cannot be mailed to');
    if (!from) return undeliverable('the sender address of the survey cannot be mailed from');
    const { id: sendId, name, token, properties = {}, reminds_of: remindsOf } = claimed;
    const contact = { sendId, email: to, name, token, properties, remindsOf };
    const message = letter.fill(letter.filling(contact, new Date()));
    const signed = dkim ? await dkim(message) : message;
    return await transport.send({ from, to }, signed, {
      ...leaving,
      group: claimed.org_id,
      mayLeave,
    });
  }

  return { concurrency, server, send, stop: () => stopping.abort() };
}

/** Names the mail in the address that a bounce comes back to. */
const returnPath = (sendId: string, bounceDomain: string) => `bounce+${sendId}@${bounceDomain}`;

const undeliverable = (response: string): MailOutcome => ({
  kind: 'refused',
  permanent: true,
  unknownMailbox: false,
  code: 553,
  enhanced: '5.1.3',
  response,
});

type MailFrame = { publicUrl: string; language: string };

const mailOf = (
  { survey_id, org_id, survey, organization, reminder }: ClaimedMail,
  { publicUrl, language }: MailFrame,
): SurveyMail => {
  const { reminders, ...rest } = survey;
  const words = inLanguage(rest, language);
  // Without a subject of its own a reminder keeps that of the first mail: programs show both in one thread.
  const subject = reminders?.[reminder - 1]?.subject ?? words.subject;
  return {
    survey: { id: survey_id, ...words, subject },
    organization: { id: org_id, ...organization },
    publicUrl,
    isReminder: reminder > 0,
  };
};

/** A mail server; nothing for the built-in mailbox. */
type MailServer = { host: string; port: number } | null;
type TracedMail = { sendId: string; surveyId: string; attempt: number };

/** One mail on its way to the server, or into the mailbox. */
export const mailSpan = (
  server: MailServer,
  { sendId, surveyId, attempt }: TracedMail,
): SpanDescription => ({
  name: 'send mail',
  kind: SpanKind.CLIENT,
  attributes: {
    ...(server ? { 'server.address': server.host, 'server.port': server.port } : {}),
    ...(server ? { 'network.protocol.name': 'smtp' } : {}),
    'askback.survey.id': surveyId,
    'askback.send.id': sendId,
    'askback.send.attempt': attempt,
  },
});

export function mailEnd(outcome: string): SpanEnd {
  const failed = outcome !== 'accepted' && outcome !== 'withdrawn';
  const attributes: Attributes = { 'askback.send.outcome': outcome };
  if (failed) attributes[errorType] = outcome;
  return { attributes, failed };
}
