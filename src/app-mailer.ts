import { mailableAddress } from './lib/smtp/address.ts';
import { type MailOutcome, rejectAddress } from './lib/smtp/connection.ts';
import type { DkimSigner } from './lib/smtp/dkim.ts';
import { compose } from './lib/smtp/message.ts';
import type { MailTransport } from './lib/smtp/smtp.ts';

export type MailFrom = { name: string; address: string };

export type AppMail = {
  to: { name: string | null; address: string };
  subject: string;
  text: string;
  html: string;
  /** The local part of the Message-ID, the same for all attempts. */
  id: string;
  /** An organization or another sender. Groups take turns. */
  group: string;
};

export type AppMailer = ReturnType<typeof createAppMailer>;

type AppMailerTools = {
  transport: MailTransport;
  dkim: DkimSigner | null;
  mailFrom: MailFrom | null;
  publicUrl: string;
};

/** Sends emails of the service to members and organizations. Failures of the mail server are outcomes, never thrown. */
export function createAppMailer({ transport, dkim, mailFrom, publicUrl }: AppMailerTools) {
  const { hostname } = new URL(publicUrl);
  const own = { name: 'askback', address: `askback@${hostname}` };

  async function send({ to, subject, text, html, id, group }: AppMail): Promise<MailOutcome> {
    const address = mailableAddress(to.address);
    if (!address) return rejectAddress('email cannot be sent to this address');
    const sender = mailFrom ?? own;
    // Falls back to the recipient, because a host such as localhost is not a valid sender domain.
    const from = mailableAddress(sender.address) ?? address;
    const letter = compose({
      from: { name: sender.name, address: from },
      replyTo: null,
      subject,
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
      text,
      html,
    });
    const message = letter({
      to: { name: to.name, address },
      messageId: `${id}@${hostname.replace(/[[\]]/g, '')}`,
      date: new Date(),
      slots: {},
    });
    const signed = dkim ? await dkim(message) : message;
    return await transport.send({ from, to: address }, signed, { group });
  }

  return { send };
}
