import { isolate, type Language } from '../web/language.ts';
import { type HtmlPage, renderPage, type Sender } from '../web/layout.tsx';
import { oneLine } from '../web/style.ts';

export type UnsubscribeProps = {
  /** `ask` before, `unsubscribed` after it, `resubscribed` after it was undone. */
  state: 'ask' | 'unsubscribed' | 'resubscribed';
  language: Language;
  sender: Sender;
  email: string;
  /** Where the button posts to: unsubscribes before, undoes it after. */
  action: string;
};

/** Opening the page changes nothing; its button does. */
export function unsubscribePage({
  state,
  language,
  sender,
  email,
  action,
}: UnsubscribeProps): HtmlPage {
  const { unsubscribe, unsubscribed, resubscribed } = language.texts;
  const { title, text } = { ask: unsubscribe, unsubscribed, resubscribed }[state];
  const button = { ask: unsubscribe.action, unsubscribed: unsubscribed.undo, resubscribed: null }[
    state
  ];
  return renderPage({
    language,
    sender,
    title,
    style,
    body: (
      <>
        <h1>{title}</h1>
        <p>{text(isolate(email), isolate(sender.name))}</p>
        {button && (
          <form method="post" action={action}>
            <button type="submit" class={state === 'ask' ? undefined : 'quiet'}>
              {button}
            </button>
          </form>
        )}
      </>
    ),
  });
}

const style = oneLine(`
h1 + p { margin-top: .75rem; font-size: 1.0625rem; color: var(--muted); overflow-wrap: anywhere }
form { margin-top: 2rem }
`);
