import { count, counted } from '../../web/app/lists.tsx';
import type { JudgementView } from '../judgement.ts';

const othersText = (others: number, total: number) =>
  others === 0
    ? `That is everybody of ${counted(total, 'contact')}. Nothing has been sent yet.`
    : `The other ${count(others)} of ${count(total)} will not. Nothing has been sent yet.`;

type JudgementProps = { judgement: JudgementView; csv: string };

/** How many will be mailed, in a number, a sentence and a bar. */
export function WhoIsMailed({ judgement }: { judgement: JudgementView }) {
  const { mailed, blocked, invalid, alreadyAsked } = judgement;
  const total = mailed + blocked + invalid + alreadyAsked;
  const skipped = blocked + alreadyAsked;
  return (
    <div>
      <h2 id="judgement" class="hidden">
        Who will be mailed
      </h2>
      <p class="now">
        <strong>{count(mailed)}</strong>{' '}
        <span>{mailed === 1 ? 'person will be mailed' : 'people will be mailed'}</span>
      </p>
      <p>{sentence(judgement, total)}</p>
      {total > 0 ? <Bar parts={[mailed, skipped, invalid]} /> : null}
      <dl class="sums">
        <div>
          <dt class="is-fine">Will be mailed</dt>
          <dd>{count(mailed)}</dd>
        </div>
        <div>
          <dt class="is-skipped">Skipped</dt>
          <dd>{count(skipped)}</dd>
        </div>
        <div>
          <dt class="is-failed">Invalid</dt>
          <dd>{count(invalid)}</dd>
        </div>
      </dl>
    </div>
  );
}

function sentence({ mailed, alreadyAsked, blocked }: JudgementView, total: number): string {
  if (total === 0) return 'This survey has no contacts yet.';
  if (mailed + blocked === 0 && alreadyAsked > 0)
    return 'Every contact of this survey was asked already.';
  return othersText(total - mailed, total);
}

const barClasses = [undefined, 'is-skipped', 'is-failed'];

/** Parts of a whole, a hair apart. */
function Bar({ parts }: { parts: readonly number[] }) {
  const whole = parts.reduce((sum, part) => sum + part, 0);
  let x = 0;
  return (
    <svg class="bar" aria-hidden="true">
      {parts.map((part, place) => {
        const [from, width] = [x, (part / whole) * 100];
        x += width;
        return part === 0 ? null : (
          <rect class={barClasses[place]} x={`${from}%`} width={`${width}%`} height="100%" />
        );
      })}
    </svg>
  );
}

/** Why the others are not, each reason with a few of its addresses. */
export function WhyNot({ judgement, csv }: JudgementProps) {
  const { reasons, blocked, invalid, alreadyAsked } = judgement;
  const others = blocked + invalid + alreadyAsked;
  if (others === 0) return null;
  return (
    <section aria-labelledby="why">
      <div class="title">
        <h2 id="why">Why {count(others)} will not be mailed</h2>
        <a class="more" href={csv}>
          All as CSV
        </a>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a section would be a landmark with a line above it */}
      <div class="scroll" tabindex={0} role="region" aria-label="Reasons">
        <table>
          <caption class="hidden">
            Reasons, how many people each concerns, and what can be done
          </caption>
          <thead>
            <tr>
              <th scope="col" class="number">
                People
              </th>
              <th scope="col">Reason, and what you can do</th>
            </tr>
          </thead>
          <tbody>
            {reasons.map((reason) => (
              <Reason reason={reason} csv={csv} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

type ReasonProps = { reason: JudgementView['reasons'][number]; csv: string };

function Reason({ reason: { code, people, examples }, csv }: ReasonProps) {
  const { reason, advice } = reasonText(code);
  const more = people - examples.length;
  return (
    <tr>
      <td class="number">{count(people)}</td>
      <td>
        <div class="twofold">
          {examples.length === 0 ? (
            <span class="strong" title={code}>
              {reason}
            </span>
          ) : (
            <details class="reveal">
              <summary title={code}>{reason}</summary>
              <ul class="small soft">
                {examples.map((example) => (
                  <li>
                    <bdi>{example.email}</bdi>
                    {example.remark ? `, ${example.remark}` : ''}
                  </li>
                ))}
                {more > 0 ? (
                  <li>
                    <a class="more" href={csv}>
                      {counted(more, 'more', 'more')}
                    </a>
                  </li>
                ) : null}
              </ul>
            </details>
          )}
          <p class="soft">{advice}</p>
        </div>
      </td>
    </tr>
  );
}

type CodeText = { reason: string; advice: string };

/** Why an address is not mailed, and what can be done, by the code of the reason. */
const reasonTexts: Readonly<Record<string, CodeText>> = {
  already_sent: {
    reason: 'Already received or answered this survey',
    advice: 'Nothing to do; each address is asked once.',
  },
  in_flight: {
    reason: 'Another send is mailing it',
    advice: 'Nothing to do; its outcome is shown with that send.',
  },
  unknown_outcome: {
    reason: 'An earlier mail may have arrived',
    advice: 'Nothing to do; a mail whose outcome is unknown is not sent again.',
  },
  unsubscribed: { reason: 'Unsubscribed', advice: 'Only the person can undo it.' },
  bounced: {
    reason: 'Mailbox does not exist',
    advice: 'An earlier mail bounced. If the address works now, allow it under People.',
  },
  frequency: {
    reason: 'Received another survey a short time ago',
    advice: 'Ask again later, or change the limit in Settings.',
  },
  erased: { reason: 'Erased', advice: 'An owner may allow the address again.' },
  invalid_email: {
    reason: 'Not a valid address',
    advice: 'Correct these lines and upload the list again.',
  },
  send_limit: {
    reason: 'The mails of the month were used up',
    advice: 'An operator can raise the limit.',
  },
  stopped: { reason: 'The campaign was stopped before', advice: 'Start another campaign.' },
  refused: { reason: 'Refused by the mail server', advice: 'It is in the next campaign.' },
  deadline: { reason: 'Could not be sent in time', advice: 'It is in the next campaign.' },
};

export const reasonText = (code: string): CodeText =>
  reasonTexts[code] ?? { reason: 'Cannot be mailed', advice: 'The CSV says why.' };

type NamedRun = {
  kind: 'campaign' | 'asking' | 'reminder';
  reminder: number;
  after_days: number | null;
};

/** What a run that no person started is called. */
export const runTitle = ({ kind, reminder, after_days }: NamedRun) =>
  kind === 'reminder'
    ? `Reminder ${reminder}, after ${counted(after_days ?? 0, 'day')}`
    : `Asked by itself, after ${counted(after_days ?? 0, 'day')}`;

const statusWords = {
  scheduled: ['waiting', 'Scheduled'],
  running: ['waiting', 'Running'],
  paused: ['skipped', 'Paused'],
  finished: ['fine', 'Finished'],
  stopped: ['failed', 'Stopped'],
  refused: ['failed', 'Refused'],
} as const;

export const statusWord = (status: keyof typeof statusWords) => statusWords[status];

const resultWords = {
  waiting: ['waiting', 'Waiting'],
  sent: ['fine', 'Sent'],
  duplicate: ['skipped', 'Not mailed'],
  invalid: ['failed', 'Invalid'],
  failed: ['failed', 'Failed'],
} as const;

export const resultWord = (status: keyof typeof resultWords) => resultWords[status];

export const notJudged = ({ kind, after_days }: NamedRun) => {
  const days = counted(after_days ?? 0, 'day');
  if (kind === 'reminder') {
    const means = `A contact that has not answered is reminded ${days} after it was mailed.`;
    return { title: 'No reminder is due yet.', means };
  }
  if (kind === 'asking') {
    return {
      title: 'No contact is due yet.',
      means: `A contact is asked ${days} after it was added.`,
    };
  }
  const means = 'Contacts are judged and listed here when it starts, with those added until then.';
  return { title: 'No contact was judged yet.', means };
};
