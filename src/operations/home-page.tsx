import { languageOf } from '../web/language.ts';
import { type HtmlPage, renderPage } from '../web/layout.tsx';
import { oneLine } from '../web/style.ts';

/** What is at the address of the service itself: for visitors who follow no link, and for its operator. */
export function homePage({ showsMailbox }: { showsMailbox: boolean }): HtmlPage {
  return renderPage({
    language: languageOf('en'),
    title: 'askback',
    style,
    body: (
      <>
        <h1>askback</h1>
        <p class="about">Survey feedback, running on this server.</p>
        <p class="about">
          To answer a survey, open the link in the mail that asked you: this page has none.
        </p>
        <ul>
          <li>
            <a href="/docs">API documentation</a>
          </li>
          <li>
            <a href="/openapi.json">OpenAPI document</a>
          </li>
          {showsMailbox && (
            <li>
              <a href="/mailbox">Mailbox</a>, which keeps all mails because no mail server is set
            </li>
          )}
          <li>
            <a href="/readyz">Health</a>
          </li>
        </ul>
      </>
    ),
  });
}

const style = oneLine(`
main a { color: var(--accent) }
.about { margin-top: .75rem; color: var(--muted) }
ul { margin: 1.5rem 0 0; padding: 0; list-style: none }
li a { display: inline-block; min-height: 2.75rem; padding: .625rem 0 }
`);
