import type { Context } from 'hono';
import { postedAgain } from './forms.tsx';

/** What comes before sending a form again. */
const firstBefore = {
  signed_out: {
    path: '/sign-in',
    text: 'Sign in',
    stillHere:
      'This page still has what you entered. Sign in, which opens a new tab, then come back to this one and send it again.',
  },
  proof_old: {
    path: '/account/prove',
    text: 'Confirm that it is you',
    stillHere:
      'This page still has what you entered. Confirm that it is you, which opens a new tab, then come back to this one and send it again.',
  },
} as const;

/** Where a page leads that asks a reader to sign in; set by what refuses the reader. */
const signInPathOf = (c: Context): string => c.get('signInPath') ?? '/sign-in';

type SendAgainProps = { c: Context; after: 'signed_out' | 'proof_old' };

/**
 * The ways on from a form that was posted after the session had ended, or too long after the last proof: sign in or prove
 * it on a page of its own, then send the same form again from this one.
 */
export function SendAgain({ c, after }: SendAgainProps) {
  const fields = postedAgain(c);
  const { pathname, search } = new URL(c.req.url);
  const first = firstBefore[after];
  const texts = fields.filter(([, value]) => /\s/.test(value.trim()));
  if (fields.length === 0) {
    return (
      <p class="actions">
        <a class="button" href={signInPathOf(c)}>
          Sign in
        </a>
      </p>
    );
  }
  return (
    <>
      <p>{first.stillHere}</p>
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
          <a class="button primary" href={first.path} target="_blank" rel="noopener">
            {first.text}
            <span class="hidden">, opens a new tab</span>
          </a>
          <button type="submit">Send again</button>
        </div>
      </form>
    </>
  );
}
