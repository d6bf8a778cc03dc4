import { State } from '../../web/app/badges.tsx';
import { Field } from '../../web/app/forms.tsx';
import { Icon } from '../../web/app/icon.tsx';
import { count } from '../../web/app/lists.tsx';
import type { JudgementView } from '../campaign.ts';

type PreviewProps = {
  judgement: JudgementView;
  /** The recipient that was searched for, or the first one. */
  reader: JudgementView['reader'];
  text: string;
  /** False if the text matches no recipient. */
  isFound: boolean;
  audience: string;
  survey: string;
  canTest: boolean;
};

export function SendPreview(props: PreviewProps) {
  const { judgement, reader, text, isFound, audience, survey, canTest } = props;
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
      {isFound ? null : (
        <p role="status" class="sub">
          No recipient matches “<bdi>{text}</bdi>”.
        </p>
      )}
      {/* After the controls, because the Tab key stops at each link of the email. */}
      <div class="letterbox">
        <iframe src={`${survey}/mail/${reader.id}`} title={`Email to ${reader.email}`} />
      </div>
      <Placeholders fallbacks={judgement.fallbacks} />
    </section>
  );
}

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
