import { Refusal } from '../../errors.ts';
import { tryAgain } from '../../web/app/error-screens.tsx';
import { mostInvitationsADay } from '../invite.ts';

/** What to say at the field of an address that was not invited; any other error is thrown on. */
export function whyNotInvited(error: unknown): string {
  if (!(error instanceof Refusal)) throw error;
  const { code, retryInSeconds = 0 } = error;
  if (code === 'already_member')
    return 'This address belongs to a member already. Change the role in the list.';
  if (code === 'too_many_invitations')
    return `No invitation was sent: an organization sends at most ${mostInvitationsADay} in 24 hours. ${tryAgain(retryInSeconds)}`;
  throw error;
}
