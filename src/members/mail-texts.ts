import type { AppLetter } from '../web/app-letter.tsx';

type Invited = { organization: string | null; role: string | null; url: string };

const roles: Readonly<Record<string, string>> = {
  viewer: 'see its answers',
  editor: 'see its answers and make surveys',
  owner: 'run it as an owner',
};

export function invitationLetter({ organization, role, url }: Invited): AppLetter {
  const place = organization ?? 'askback';
  const may = roles[role ?? ''] ?? 'run this server as an operator';
  return {
    subject: `You are invited to ${place}`,
    sentences: [
      organization
        ? `You are invited to ${organization} on askback, where it asks for feedback. You will be able to ${may}.`
        : `You are invited to askback. You will be able to ${may}.`,
      'The link works once, within 7 days.',
    ],
    button: { text: 'Accept the invitation', url },
    foot: 'If you did not expect this invitation, you can ignore it: nothing happens without the link.',
  };
}

export const resetLetter = (url: string): AppLetter => ({
  subject: 'Set a new password',
  sentences: [
    'Somebody asked for a new password for your account on askback. If that was you, open the link and choose one.',
    'The link works once, within an hour. A new password signs you out everywhere.',
  ],
  button: { text: 'Set a new password', url },
  foot: 'If you did not ask for it, you can ignore this mail: your password stays as it is.',
});
