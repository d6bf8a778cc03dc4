import { State } from '../../web/app/badges.tsx';
import { Field, LinkButton } from '../../web/app/forms.tsx';
import { Icon } from '../../web/app/icon.tsx';
import { count } from '../../web/app/lists.tsx';
import type { JudgementView } from '../campaign.ts';
import type { JudgedContact } from '../judge.ts';

type RecipientSearch = {
  /** Part of an address or a name. */
  text: string;
  matches: readonly JudgedContact[];
};

type PreviewProps = {
  judgement: JudgementView;
  /** The chosen recipient, or the first one. */
  reader: JudgementView['reader'];
  search: RecipientSearch;
  /** The reviewed audience. */
  audience: string;
  /** Path of the survey. */
  survey: string;
  canTest: boolean;
};

/** The email of one recipient, a search for others, a test email, and placeholders without a value. */
export function SendPreview(props: PreviewProps) {
  const { judgement, reader, search, audience, survey, canTest } = props;
  if (!reader) return null;
  const kept: Record<string, string> = audience === '' ? {} : { audience };
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
          <form method="post" action={`${survey}/test-mail?${new URLSearchParams(kept)}`}>
            <input type="hidden" name="contact_id" value={reader.id} />
            <button type="submit">
              <Icon name="send" />
              Send me a test
            </button>
          </form>
        ) : null}
      </div>
      <Chooser reader={reader} search={search} kept={kept} here={`${survey}/send`} />
      {/* After the controls, because the Tab key stops at each link of the email. */}
      <div class="letterbox">
        <iframe src={`${survey}/mail/${reader.id}`} title={`Email to ${reader.email}`} />
      </div>
      <Placeholders fallbacks={judgement.fallbacks} />
    </section>
  );
}

type ChooserProps = Pick<PreviewProps, 'search'> & {
  reader: NonNullable<PreviewProps['reader']>;
  /** Parameters of the page. */
  kept: Readonly<Record<string, string>>;
  here: string;
};

/** A search for another recipient, which works without script. */
function Chooser({ reader, search: { text, matches }, kept, here }: ChooserProps) {
  const recipients = matches.filter(({ judgement }) => 'send' in judgement);
  const [skipped] = matches.filter(({ judgement }) => !('send' in judgement));
  const others = recipients.filter(({ id }) => id !== reader.id);
  return (
    <>
      <form method="get" action={`${here}#mail`} class="test">
        {Object.entries(kept).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
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
      {text !== '' && recipients.length === 0 ? (
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
      ) : null}
      {text !== '' && others.length > 0 ? (
        <div class="tags">
          <span class="sub">Also matching:</span>
          {others.map(({ email }) => (
            <LinkButton
              href={`${here}?${new URLSearchParams({ ...kept, recipient: email })}#mail`}
              text={<bdi>{email}</bdi>}
              kind="quiet"
            />
          ))}
        </div>
      ) : null}
    </>
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
