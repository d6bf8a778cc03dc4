import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Refusal } from '../../errors.ts';
import { Message } from './badges.tsx';
import { fieldsToResend, LinkButton } from './forms.tsx';
import { readerOf, renderScreen, renderStandalone } from './screen.tsx';

/** Shows a failed request as a screen. A refusal that ends with a full stop is shown as it is. */
export function showErrorScreen(c: Context, status: ContentfulStatusCode, refusal?: Refusal) {
  const { title, text, link } =
    byCode[refusal?.code ?? ''] ??
    (status >= 500 && c.req.method === 'GET' ? failedRead(c, status) : byStatus[status]) ??
    byStatus[status < 500 ? 400 : 500]!;
  const reader = readerOf(c);
  const isSentence = refusal !== undefined && /[.]$/.test(refusal.message);
  const home = reader.organization ? `/o/${reader.organization.slug}` : '/';
  const body = (
    <>
      <p>
        <Message text={isSentence ? refusal.message : text} />
      </p>
      {status === 400 && refusal && !isSentence ? (
        <p class="soft">Details: {refusal.message}</p>
      ) : null}
      {refusal?.retryInSeconds === undefined ? null : <p>{tryAgain(refusal.retryInSeconds)}</p>}
      {refusal?.code === 'signed_out' || refusal?.code === 'proof_old' ? (
        <Resend c={c} after={refusal.code} />
      ) : (
        <p class="acts">
          <LinkButton href={link?.href ?? home} text={link?.text ?? 'Go to Home'} />
        </p>
      )}
      <p class="sub">
        Request ID: <code>{c.get('requestId')}</code>
      </p>
    </>
  );
  if (!reader.member) return renderStandalone(c, { title, body, status });
  const card = <div class="card stack measure">{body}</div>;
  return renderScreen(c, { title, section: null, body: card, status });
}

type ErrorText = {
  title: string;
  text: string;
  /** Home by default. */
  link?: { text: string; href: string };
};

const byStatus: Readonly<Record<number, ErrorText>> = {
  400: {
    title: 'Invalid request',
    text: 'Go back, check what you entered, and try again.',
  },
  403: {
    title: 'You don’t have permission',
    text: 'Your role in this organization doesn’t allow this. An owner can change your role under Settings, Members.',
  },
  404: {
    title: 'Page not found',
    text: 'The address is wrong, the page was deleted, or it belongs to an organization that you aren’t a member of.',
  },
  409: {
    title: 'Something changed in the meantime',
    text: 'Nothing was saved. Go back, reload the page and try again.',
  },
  410: {
    title: 'This link no longer works',
    text: 'It has expired or was already used. To reset your password, get a new link. If you were invited, ask an owner of the organization for a new invitation.',
    link: { text: 'Get a new link', href: '/forgot' },
  },
  413: {
    title: 'Too large',
    text: 'Nothing was saved. Send less at once, or a smaller file.',
  },
  422: {
    title: 'This isn’t possible',
    text: 'Nothing was changed.',
  },
  429: {
    title: 'Too many attempts',
    text: 'Nothing was changed. Please wait before you try again.',
  },
  500: {
    title: 'Something went wrong',
    text: 'Your change may have been saved, so check before you repeat it. The operator of this server finds the cause in the log with the request ID below.',
  },
  503: {
    title: 'The service is unavailable',
    text: 'This server is too busy, or can’t reach its database.',
  },
};

/** A page that could not be shown has changed nothing, so its link loads it again. */
function failedRead(c: Context, status: number): ErrorText {
  const { title, text } = byStatus[status] ?? byStatus[500]!;
  return {
    title,
    text:
      status === 503
        ? text
        : 'The page can’t be shown. If trying again doesn’t help, send the request ID below to the operator of this server.',
    link: { text: 'Try again', href: new URL(c.req.url).search || '?' },
  };
}

/** Takes precedence over the status. */
const byCode: Readonly<Record<string, ErrorText>> = {
  signed_out: {
    title: 'You are signed out',
    text: 'Your session has expired. Nothing was saved.',
  },
  proof_old: {
    title: 'Confirm it’s you',
    text: 'You signed in more than an hour ago. Confirm your identity to continue. Nothing was saved yet.',
  },
  search_too_slow: {
    title: 'This search takes too long',
    text: 'It was stopped after 10 seconds. Go back and search for more letters or in a shorter date range.',
  },
  database_full: {
    title: 'Nothing can be saved right now',
    text: 'The disk of the database is full. Your existing data is safe and can be read. Try again when the operator of this server has freed space.',
  },
  first_link_over: {
    title: 'This link no longer works',
    text: 'It has expired or was already used.',
    link: { text: 'Sign in', href: '/sign-in' },
  },
  forged_form: {
    title: 'This form was refused',
    text: 'It came from another site, so nothing was changed. If you filled it in here, this server is set up for a different address than the one you use.',
  },
};

function formatWait(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? 'a second' : `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}

export const tryAgain = (seconds: number) => `Try again in ${formatWait(seconds)}.`;

const requiredSteps = {
  signed_out: { path: '/sign-in', text: 'Sign in' },
  proof_old: { path: '/account/prove', text: 'Confirm it’s you' },
} as const;

/** Keeps the content of a form until the reader has signed in or confirmed who they are in another tab. */
function Resend({ c, after }: { c: Context; after: keyof typeof requiredSteps }) {
  const fields = fieldsToResend(c);
  const { pathname, search } = new URL(c.req.url);
  const step = requiredSteps[after];
  const texts = fields.filter(([, value]) => /\s/.test(value.trim()));
  if (fields.length === 0) {
    return (
      <p class="acts">
        <LinkButton href={c.get('signInPath') ?? '/sign-in'} text="Sign in" />
      </p>
    );
  }
  return (
    <>
      <p>
        This page still has what you entered. {step.text} in a new tab, then come back here and send
        it again.
      </p>
      {texts.map(([, value]) => (
        <blockquote class="quote words" dir="auto">
          {value}
        </blockquote>
      ))}
      <form method="post" action={`${pathname}${search}`}>
        {fields.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <div class="acts">
          <LinkButton
            href={step.path}
            target="_blank"
            rel="noopener"
            text={step.text}
            about="(opens a new tab)"
            kind="primary"
          />
          <button type="submit">Send again</button>
        </div>
      </form>
    </>
  );
}
