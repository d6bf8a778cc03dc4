import { scoreText } from '../../responses/screens/shown.ts';
import { DataTable } from '../../web/app/lists.tsx';
import type { StateKind } from '../../web/app/marks.tsx';
import { Breakable, Chip, State, Time } from '../../web/app/marks.tsx';
import type { FoundPerson } from '../queries.ts';
import type { AnswerOfPerson } from '../timeline.queries.ts';
import type { TimelineEntry } from '../timeline.ts';

type PersonProps = {
  person: FoundPerson;
  timeline: readonly TimelineEntry[];
  /** What the person answered, by the ids of the responses. */
  answers: ReadonlyMap<string, AnswerOfPerson>;
  /** The screen itself. */
  here: string;
  /** The screens of the organization. */
  home: string;
  may: { change: boolean; erase: boolean };
};

/** One address over everything. */
export function PersonScreen(props: PersonProps) {
  const { person, timeline, answers, here, home, may } = props;
  const isSuppressed = person.suppressions.length > 0;
  return (
    <>
      {person.name ? (
        <p>
          <bdi>{person.name}</bdi>
        </p>
      ) : null}
      {isSuppressed ? (
        <p>
          <State kind="skipped">This address gets no mail of this organization.</State>
        </p>
      ) : null}
      {may.change ? (
        <form method="post" action={`${here}/${isSuppressed ? 'allow' : 'suppress'}`}>
          <div class="actions">
            <button type="submit">{isSuppressed ? 'Allow again' : 'Suppress'}</button>
            {may.erase ? (
              <a class="button danger" href={`${here}/erase`}>
                Erase
              </a>
            ) : null}
          </div>
        </form>
      ) : null}
      <section class="part" aria-labelledby="timeline">
        <div class="title">
          <h2 id="timeline">What happened, newest first</h2>
        </div>
        <DataTable
          caption="What happened, newest first"
          columns={[{ head: 'When' }, { head: 'What' }, { head: 'Survey' }]}
          rows={timeline.map((entry) => ({
            cells: [
              <Time at={entry.at} show="second" />,
              <>
                <What entry={entry} />
                <More entry={entry} home={home} answers={answers} />
              </>,
              entry.survey_id ? (
                <a href={`${home}/surveys/${entry.survey_id}`}>
                  <bdi>{entry.survey_name}</bdi>
                </a>
              ) : (
                'all surveys'
              ),
            ],
          }))}
        />
      </section>
    </>
  );
}

/** What went as it should is plain: colour is for the rest. */
function What({ entry }: { entry: TimelineEntry }) {
  const isDelivery = entry.what === 'not_delivered';
  const { kind, text } = (isDelivery && undelivered[entry.reason_code ?? '']) || steps[entry.what];
  if (kind === 'fine') return <>{text}</>;
  return (
    <State kind={kind} code={entry.reason_code ?? entry.what}>
      {text}
    </State>
  );
}

type MoreProps = Pick<PersonProps, 'home' | 'answers'> & { entry: TimelineEntry };

function More({ entry, home, answers }: MoreProps) {
  const { what, reason, webhook_id: webhook, delivery_id: delivery, response_id: response } = entry;
  const answer = answers.get(response ?? '');
  if (answer) return <Answer answer={answer} home={home} />;
  if (webhook !== null) {
    return (
      <span class="small block">
        <a href={`${home}/webhooks/${webhook}/deliveries/${delivery}`}>
          <Breakable text={reason ?? ''} />
        </a>
      </span>
    );
  }
  const visits = what === 'opened' ? /^(\d+) times, last on (\S+)$/.exec(reason ?? '') : null;
  if (visits) return <Visits many={Number(visits[1])} last={visits[2]!} />;
  return reason ? <span class="small soft block">{reason}</span> : null;
}

/** The score leads to the response. */
const Answer = ({ answer, home }: { answer: AnswerOfPerson; home: string }) => {
  const { id, type, score, category, comment } = answer;
  return (
    <span class="block">
      <a href={`${home}/responses/${id}`}>
        <Chip score={scoreText(type, score)} category={category} />
      </a>{' '}
      {comment ? <span dir="auto">{comment}</span> : null}
    </span>
  );
};

const Visits = ({ many, last }: { many: number; last: string }) =>
  many < 2 ? null : (
    <span class="small soft block">
      {many} times, last on <Time at={last} />
    </span>
  );

type Step = { kind: StateKind; text: string };

/** Each step of a timeline as a reader sees it. */
const steps: Readonly<Record<TimelineEntry['what'], Step>> = {
  added: { kind: 'fine', text: 'Added to the survey' },
  claimed: { kind: 'waiting', text: 'Waits to be sent' },
  sending: { kind: 'waiting', text: 'Is being sent' },
  sent: { kind: 'fine', text: 'Sent' },
  reminded: { kind: 'fine', text: 'Reminded' },
  failed: { kind: 'failed', text: 'Not sent' },
  unknown: { kind: 'warning', text: 'Outcome unknown' },
  blocked: { kind: 'skipped', text: 'Blocked' },
  opened: { kind: 'fine', text: 'Opened the link' },
  answered: { kind: 'fine', text: 'Answered' },
  answer_held: { kind: 'waiting', text: 'Answered, held' },
  delivered: { kind: 'fine', text: 'Delivered to a webhook' },
  not_delivered: { kind: 'failed', text: 'Not delivered to a webhook' },
  unsubscribed: { kind: 'warning', text: 'Suppressed or unsubscribed' },
  bounced: { kind: 'failed', text: 'Bounced: the mailbox does not exist' },
};

/** Why an event of the answer has not been delivered, by the state of its delivery; it failed otherwise. */
const undelivered: Readonly<Record<string, Step>> = {
  pending: { kind: 'waiting', text: 'Waits to be delivered to a webhook' },
  skipped: { kind: 'skipped', text: 'Not delivered: the webhook was off' },
};
