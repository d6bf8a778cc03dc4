import { State } from '../../web/app/badges.tsx';
import { Field, LinkButton } from '../../web/app/forms.tsx';
import { Icon } from '../../web/app/icon.tsx';
import { count, withQuery } from '../../web/app/lists.tsx';
import type { JudgementView } from '../campaign.ts';
import type { JudgedContact } from '../judge.ts';

type PreviewProps = {
  judgement: JudgementView;
  /** The recipient that was searched for, or the first one. */
  reader: JudgementView['reader'];
  text: string;
  /** Contacts that match the text, also those that would be skipped. */
  matches: readonly JudgedContact[];
  audience: string;
  survey: string;
  canTest: boolean;
};

export function SendPreview(props: PreviewProps) {
  const { judgement, reader, text, audience, survey, canTest } = props;
  if (!reader) return null;
  const query = audience === '' ? '' : `?${new URLSearchParams({ audience })}`;
  return (
    <section class="preview" id="mail" aria-labelledby="mail-title">
      <div class="spread">
        <div class="grow">
          <h2 id="mail-title">Email</h2>
          <p class="sub">
            Preview for <bdi>{reader.name ?? reader.email}</bdi>
          </p>
        </div>
        {canTest ? (
          <form method="post" action={`${survey}/test-mail${query}`}>
            <input type="hidden" name="contact_id" value={reader.id} />
            <button type="submit">
              <Icon name="send" />
              Send me a test
            </button>
          </form>
        ) : null}
      </div>
      <form method="get" action={`${survey}/send#mail`} class="test">
        {audience === '' ? null : <input type="hidden" name="audience" value={audience} />}
        <Field
          name="recipient"
          label="Another recipient"
          type="search"
          value={text || reader.email}
          autocomplete="off"
          size="wide"
        />
        <button type="submit">Show</button>
      </form>
      {text === '' ? null : <Matches {...props} reader={reader} />}
      {/* After the controls, because the Tab key stops at each link of the email. */}
      <div class="letterbox">
        <iframe src={`${survey}/mail/${reader.id}`} title={`Email to ${reader.email}`} />
      </div>
      <Placeholders fallbacks={judgement.fallbacks} />
    </section>
  );
}

type MatchesProps = PreviewProps & { reader: NonNullable<PreviewProps['reader']> };

/** Links to the other matches, or says why nobody is shown. */
function Matches({ reader, text, matches, audience, survey }: MatchesProps) {
  const recipients = matches.filter(({ judgement }) => 'send' in judgement);
  const [skipped] = matches;
  if (recipients.length === 0) {
    return (
      <p role="status" class="sub">
        {skipped ? (
          <>
            <bdi>{skipped.email}</bdi> won’t get this email: {reasonOf(skipped)}.
          </>
        ) : (
          <>
            No recipient matches “<bdi>{text}</bdi>”.
          </>
        )}
      </p>
    );
  }
  const others = recipients.filter(({ id }) => id !== reader.id);
  if (others.length === 0) return null;
  return (
    <div class="tags">
      <span class="sub">Also matching:</span>
      {others.map(({ email }) => (
        <LinkButton
          href={`${withQuery(`${survey}/send`, { audience, recipient: email })}#mail`}
          text={<bdi>{email}</bdi>}
          kind="quiet"
        />
      ))}
    </div>
  );
}

const reasonOf = ({ judgement }: JudgedContact) =>
  'send' in judgement ? '' : judgement.reason.replace(/\.$/, '');

function Placeholders({ fallbacks }: Pick<JudgementView, 'fallbacks'>) {
  if (fallbacks.length === 0) return null;
  return (
    <section class="card" aria-labelledby="placeholders">
      <h2 id="placeholders">Placeholders</h2>
      <ul class="rows tight">
        {fallbacks.map(({ placeholder, fallbacks: words, readers, without }) => (
          <li>
            <div>
              <code>{`{{${placeholder}}}`}</code>
              {without === 0 ? null : (
                <p class="sub">
                  {whoReads(without, readers)} <bdi>{fallbackText(words)}</bdi>.
                </p>
              )}
            </div>
            <State kind={without === 0 ? 'fine' : 'warning'}>
              {without === 0 ? 'All have a value' : `${count(without)} without a value`}
            </State>
          </li>
        ))}
      </ul>
    </section>
  );
}

const whoReads = (without: number, readers: number) =>
  `${count(without)} of ${count(readers)} ${readers === 1 ? 'recipient sees' : 'recipients see'}`;

const fallbackText = (words: ReadonlySet<string>) =>
  [...words].map((fallback) => (fallback === '' ? 'nothing' : `“${fallback}”`)).join(', ');
