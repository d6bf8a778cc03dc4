import type { AppMail, AppMailer } from '../app-mailer.ts';
import { type Act, visitorActor } from '../audit/acts.ts';
import type { JobPayloads } from '../jobs.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inTransaction } from '../lib/db/db.ts';
import { TurnedAway } from '../lib/queue/task.ts';
import { isRetryable } from '../lib/smtp/connection.ts';
import { type AppLetter, writeAppLetter } from '../web/app-letter.tsx';
import { noticeSubjects, recordAccountAct } from './account-acts.ts';
import { sealedFor } from './invite.ts';
import { findCredentials, findCredentialsById, findLink, type LiveLink } from './queries.ts';
import { hasMaxResetLinks, insertReset } from './reset.ts';

export type MailLinkTools = {
  db: Db;
  appMailer: AppMailer;
  secrets: Pick<Secrets, 'open'>;
  publicUrl: string;
};

/** Mails an invitation or the link to a new email, unless it was withdrawn, replaced or used in the meantime. */
export async function mailLink(
  { db, appMailer, secrets, publicUrl }: MailLinkTools,
  kind: 'invitation' | 'email',
  { link_id, sealed }: JobPayloads['members.mail_invitation' | 'members.mail_confirmation'],
) {
  const link = await findLink(db, kind, link_id);
  if (!link?.email) return;
  const token = secrets.open(sealedFor(link_id), Buffer.from(sealed, 'base64'));
  const letter =
    kind === 'invitation'
      ? invitationLetter(link, `${publicUrl}/invitations/${token}`)
      : confirmationLetter(`${publicUrl}/account/email/${token}`);
  await sendOrRetry(appMailer, {
    ...writeAppLetter(letter),
    to: { name: null, address: link.email },
    id: `${kind}-${link_id}`,
    group: link.orgId ?? 'members',
  });
}

/** Creates and mails a reset link if the address has an account. A retry creates another link. */
export async function mailReset(
  { db, appMailer, publicUrl }: MailLinkTools,
  { email }: JobPayloads['members.mail_reset'],
) {
  const member = await findCredentials(db, email);
  if (!member || (await hasMaxResetLinks(db, member.id))) return;
  const { token, linkId } = await insertReset(db, member.id, { provesEmail: true });
  const mail = {
    ...writeAppLetter(resetLetter(`${publicUrl}/reset/${token}`)),
    to: { name: member.name, address: member.email },
    id: `reset-${linkId}`,
    group: 'members',
  };
  try {
    await sendOrRetry(appMailer, mail);
  } catch (error) {
    // Links that were not emailed would use up the number that a member can have.
    await db`
      -- all organizations
      delete from member_links where id = ${linkId}`;
    throw error;
  }
  await inTransaction(db, (tx) =>
    recordAccountAct(tx, { memberId: member.id, actor: visitorActor(), act: 'member.reset' }),
  );
}

export async function mailNotice(
  { db, appMailer, publicUrl }: Omit<MailLinkTools, 'secrets'>,
  { id, member_id, act, at, to }: JobPayloads['members.mail_notice'],
) {
  const member = await findCredentialsById(db, member_id);
  const subject = noticeSubjects[act as Act];
  if (!member || !subject) return;
  await sendOrRetry(appMailer, {
    ...writeAppLetter({
      ...noticeLetter(subject, new Date(at), `${publicUrl}/account`),
      ...(to && { foot: addressFoot }),
    }),
    to: { name: member.name, address: to ?? member.email },
    id: `notice-${id}`,
    group: 'members',
  });
}

/** Throws so that the queue retries a mail that may get through later. A mail that may have gone out is not retried. */
async function sendOrRetry(appMailer: AppMailer, mail: AppMail) {
  const outcome = await appMailer.send(mail);
  if (isRetryable(outcome)) {
    throw new TurnedAway(`the mail server did not accept an email: ${outcome.kind}`);
  }
}

const rights = {
  viewer: 'see its responses',
  editor: 'see its responses and create surveys',
  owner: 'manage it as an owner',
};

function invitationLetter({ organization, role }: LiveLink, url: string): AppLetter {
  const place = organization ?? 'askback';
  const may = role ? rights[role] : 'run this server as an operator';
  return {
    subject: `You have been invited to ${place}`,
    sentences: [
      organization
        ? `You have been invited to ${organization} on askback, its feedback service. You will be able to ${may}.`
        : `You have been invited to askback. You will be able to ${may}.`,
      'The link works once, within 7 days.',
    ],
    button: { text: 'Accept invitation', url },
    foot: "If you didn't expect this invitation, you can ignore this email.",
  };
}

const resetLetter = (url: string): AppLetter => ({
  subject: 'Set a new password',
  sentences: [
    'Somebody requested a new password for your account on askback. If that was you, open the link to choose one.',
    'The link works once, within an hour. A new password signs you out everywhere else.',
  ],
  button: { text: 'Set a new password', url },
  foot: "If you didn't request it, you can ignore this email. Your password stays the same.",
});

const confirmationLetter = (url: string): AppLetter => ({
  subject: 'Confirm your new email',
  sentences: [
    'Somebody wants to sign in to askback with this email from now on. If that was you, open the link and confirm.',
    'The link works once, within 24 hours.',
  ],
  button: { text: 'Confirm email', url },
  foot: "If you didn't request it, you can ignore this email. Nothing changes.",
});

const addressFoot =
  "This address no longer signs you in. If this wasn't you, contact the operator of this server.";

const noticeLetter = (subject: string, at: Date, url: string): AppLetter => ({
  subject,
  sentences: [`${subject} on ${noticeTime.format(at)}.`],
  button: { text: 'Check your account', url },
  foot: "If this wasn't you, use “Forgot password?” on the sign-in page, also remove your passkeys there, and contact the operator of this server.",
});

const noticeTime = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'long',
  timeZone: 'UTC',
});
