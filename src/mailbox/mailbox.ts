import type { Db } from '../lib/db/db.ts';
import type { MailTransport } from '../lib/smtp/smtp.ts';
import { deleteMessages, insertMessage } from './queries.ts';

/** Where mails land when no SMTP server is set: nothing leaves the machine, and all can be read. */
export const createMailbox = (db: Db): MailTransport => ({
  async send({ from, to }, raw, { mayLeave } = {}) {
    if (mayLeave && !(await mayLeave())) return { kind: 'lost', reason: 'it is not to be sent' };
    const id = await insertMessage(db, { from, to, subject: subjectOf(raw), raw });
    return { kind: 'accepted', response: `250 kept in the mailbox as ${id}` };
  },
});

const keptMails = 10_000;

/** The mailbox is for looking at mails, not for keeping them. */
export const deleteOldMessages = ({ db }: { db: Db }) => deleteMessages(db, keptMails);

/** As the message spells it, unfolded; the page that shows it decodes it. */
function subjectOf(raw: Buffer): string {
  const end = raw.indexOf('\r\n\r\n');
  const head = raw.subarray(0, end < 0 ? undefined : end).toString('latin1');
  const [, subject = ''] = /^subject:[ \t]*((?:.*)(?:\r\n[ \t].*)*)/im.exec(head) ?? [];
  return subject.replace(/\r\n[ \t]/g, ' ');
}
