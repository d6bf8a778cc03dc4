import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Refusal } from '../../errors.ts';
import { fieldsToResend, LinkButton } from './forms.tsx';
import { readerOf, renderScreen, renderStandalone } from './screen.tsx';

/**
 * A failed request as a screen. A refusal that ends with a full stop was written for the reader; any other names the
 * parameter of the address that is wrong.
 */
export function showErrorScreen(c: Context, status: ContentfulStatusCode, refusal?: Refusal) {
  const { title, text, way } =
    byCode[refusal?.code ?? ''] ?? byStatus[status] ?? byStatus[status < 500 ? 400 : 500]!;
  const reader = readerOf(c);
  const isSentence = refusal !== undefined && /[.]$/.test(refusal.message);
  const home = reader.organization ? `/o/${reader.organization.slug}` : '/';
  const body = (
    <div class="prose">
      <p>{isSentence ? refusal.message : text}</p>
      {status === 400 && refusal && !isSentence ? (
        <p class="soft">What is wrong: {refusal.message}</p>
      ) : null}
      {refusal?.retryInSeconds === undefined ? null : <p>{tryAgain(refusal.retryInSeconds)}</p>}
      {refusal?.code === 'signed_out' || refusal?.code === 'proof_old' ? (
        <SendAgain c={c} after={refusal.code} />
      ) : (
        <p class="actions">
          <LinkButton href={way?.href ?? home} text={way?.text ?? 'Go to Home'} />
        </p>
      )}
      <p class="small soft">
        Request id: <code>{c.get('requestId')}</code>
      </p>
    </div>
  );
  if (!reader.member) return renderStandalone(c, { title, body, status });
  return renderScreen(c, { title, section: null, body, status });
}

type ErrorText = {
  title: string;
  text: string;
  /** Where to go from here, where that is not the reader's home. */
  way?: { text: string; href: string };
};

const byStatus: Readonly<Record<number, ErrorText>> = {
  400: {
    title: 'This request could not be read',
    text: 'Go back, check what you entered, and send it again.',
  },
  403: {
    title: 'You may not do this',
    text: 'Your role in this organization does not allow it. An owner can change your role under Settings, Members.',
  },
  404: {
    title: 'Page not found',
    text: 'The address is wrong, what it showed was deleted, or it belongs to an organization that you are not a member of.',
  },
  405: {
    title: 'This address takes no such request',
    text: 'Go back and try again from the page before.',
  },
  409: {
    title: 'Something changed in the meantime',
    text: 'Nothing was saved. Go back, reload the page, and try again.',
  },
  410: {
    title: 'This link no longer works',
    text: 'It was used before, or its time is over. For a new password, ask for a new link. If you were invited, ask an owner of the organization to invite you again.',
    way: { text: 'Get a new link', href: '/forgot' },
  },
  413: {
    title: 'This is too large',
    text: 'Nothing was saved. Send less at once, or a smaller file.',
  },
  422: {
    title: 'This cannot be done',
    text: 'Nothing was changed.',
  },
  429: {
    title: 'Too many attempts',
    text: 'Wait a while before the next one. Nothing was changed.',
  },
  500: {
    title: 'Something failed on the server',
    text: 'It was logged under the id below. Nothing is known about whether your act was saved: look before you repeat it.',
  },
  503: {
    title: 'The service cannot answer now',
    text: 'Its database cannot be reached. Try again in a moment.',
  },
};

/** Where one status has several reasons. */
const byCode: Readonly<Record<string, ErrorText>> = {
  signed_out: {
    title: 'You are signed out',
    text: 'Your session has ended, and nothing was saved.',
  },
  proof_old: {
    title: "Confirm it's you",
    text: 'You signed in over an hour ago, and this asks for a newer proof. Nothing was saved yet.',
  },
  search_too_slow: {
    title: 'This search takes too long',
    text: 'It was ended after ten seconds. Go back and search for more letters, or in a shorter range of dates.',
  },
  database_full: {
    title: 'The service can store nothing now',
    text: 'The disk of its database is full, so nothing was saved. What was stored before is safe and can be read. Send the form again when the operator of this server has made room.',
  },
  /** Its person has an account by now, or none that a mail could be for. */
  first_link_over: {
    title: 'This link no longer works',
    text: 'It was used before, or its time is over.',
    way: { text: 'Sign in', href: '/sign-in' },
  },
  forged_form: {
    title: 'This form was refused',
    text: 'It did not come from a page of this server, so nothing was changed. If it did, the address that you use is not the one this service is set up for.',
  },
};

function inWords(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? 'a second' : `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}

export const tryAgain = (seconds: number) => `Try again in ${inWords(seconds)}.`;

/** What a reader does before sending a form again. */
const firstBefore = {
  signed_out: { path: '/sign-in', text: 'Sign in' },
  proof_old: { path: '/account/prove', text: "Confirm it's you" },
} as const;

type SendAgainProps = { c: Context; after: 'signed_out' | 'proof_old' };

/** A form is sent again from this page, after the reader has signed in or proved it on another. */
function SendAgain({ c, after }: SendAgainProps) {
  const fields = fieldsToResend(c);
  const { pathname, search } = new URL(c.req.url);
  const first = firstBefore[after];
  const texts = fields.filter(([, value]) => /\s/.test(value.trim()));
  if (fields.length === 0) {
    return (
      <p class="actions">
        <LinkButton href={c.get('signInPath') ?? '/sign-in'} text="Sign in" />
      </p>
    );
  }
  return (
    <>
      <p>
        This page still has what you entered. {first.text}, which opens a new tab, then come back to
        this one and send it again.
      </p>
      {texts.map(([, value]) => (
        <blockquote class="typed" dir="auto">
          {value}
        </blockquote>
      ))}
      <form method="post" action={`${pathname}${search}`}>
        {fields.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <div class="actions">
          <LinkButton
            href={first.path}
            target="_blank"
            rel="noopener"
            text={first.text}
            about="(opens a new tab)"
            kind="primary"
          />
          <button type="submit">Send again</button>
        </div>
      </form>
    </>
  );
}
