import { type SurveyMail, surveyFillings, surveyMail } from '../letters/mail.ts';
import { memoize } from '../lib/async/memoize.ts';
import { mailableAddress } from '../lib/smtp/address.ts';
import { compose } from '../lib/smtp/compose.ts';
import type { DkimSigner } from '../lib/smtp/dkim.ts';
import type { MailOutcome as Sent } from '../lib/smtp/outcome.ts';
import type { Leaving, MailTransport } from '../lib/smtp/smtp.ts';
import type { ClaimedMail } from './mailing.queries.ts';
import type { MailOutcome } from './rules.ts';
import type { MailServer } from './spans.ts';

type Tools = {
  transport: MailTransport;
  /** The server behind it; nothing for the mailbox. */
  server?: MailServer;
  /** Mails worth having under way at once. */
  concurrency: number;
  publicUrl: string;
  dkim: DkimSigner | null;
  /** With one, bounces come back to an address that names the mail. */
  bounceDomain: string | null;
};

const mostTemplates = 200;

/** Writes mails and sends them. A survey's mail is composed once and filled for each contact. */
export function createMailer(tools: Tools) {
  const { transport, concurrency, server = null, publicUrl, dkim, bounceDomain } = tools;
  // A survey that was changed is another argument.
  const letterFor = memoize(mostTemplates, (mail: SurveyMail) => ({
    from: mailableAddress(mail.survey.from_email),
    fill: compose(surveyMail(mail)),
    filling: surveyFillings(mail),
  }));
  // The mails of a job share the words of their survey.
  const letters = new WeakMap<ClaimedMail['survey'], ReturnType<typeof letterFor>>();

  function letterOf(claimed: ClaimedMail) {
    const letter = letters.get(claimed.survey) ?? letterFor(mailOf(claimed, publicUrl));
    letters.set(claimed.survey, letter);
    return letter;
  }

  async function send(claimed: ClaimedMail, leaving: Leaving = {}): Promise<MailOutcome> {
    const letter = letterOf(claimed);
    const to = mailableAddress(claimed.email);
    const from = bounceDomain ? returnPath(claimed.id, bounceDomain) : letter.from;
    if (!to) return undeliverable('the address cannot be mailed to');
    if (!from) return undeliverable('the sender address of the survey cannot be mailed from');
    const { id: sendId, name, token } = claimed;
    const message = letter.fill(letter.filling({ sendId, email: to, name, token }, new Date()));
    const signed = dkim ? await dkim(message) : message;
    return judged(await transport.send({ from, to }, signed, leaving));
  }

  return { concurrency, server, send };
}

/** Names the mail in the address that a bounce comes back to. */
export const returnPath = (sendId: string, bounceDomain: string) =>
  `bounce+${sendId}@${bounceDomain}`;

const undeliverable = (response: string): MailOutcome => ({
  kind: 'permanent',
  response,
  unknownMailbox: false,
});

const mailOf = ({ survey_id, org_id, survey, organization }: ClaimedMail, publicUrl: string) => ({
  survey: { id: survey_id, ...survey },
  organization: { id: org_id, ...organization },
  publicUrl,
});

/** What the transport says, in the words by which a send is settled. */
function judged(sent: Sent): MailOutcome {
  if (sent.kind === 'accepted') return sent;
  if (sent.kind === 'unknown') return { kind: 'unknown', response: sent.reason };
  if (sent.kind === 'lost') return { kind: 'transient', response: sent.reason };
  if (!sent.permanent) return { kind: 'transient', response: sent.response };
  const { response, unknownMailbox } = sent;
  return { kind: 'permanent', response, unknownMailbox };
}
