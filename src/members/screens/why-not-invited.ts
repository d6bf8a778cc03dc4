import { Refusal } from '../../errors.ts';
import { errorTexts } from '../../web/app/screen-texts.ts';
import { memberTexts as texts } from '../screen-texts.ts';

/** What to say at the field of an address that was not invited; any other error is thrown on. */
export function whyNotInvited(error: unknown): string {
  if (!(error instanceof Refusal)) throw error;
  const { code, retryInSeconds = 0 } = error;
  if (code === 'already_member') return texts.alreadyMember;
  if (code === 'too_many_invitations') return texts.tooMany(errorTexts.tryAgain(retryInSeconds));
  throw error;
}
