import { DataTable } from '../../web/app/lists.tsx';
import { State, Time } from '../../web/app/marks.tsx';
import type { FoundPerson } from '../queries.ts';
import type { TimelineEntry } from '../timeline.ts';
import { eraseTexts } from './erase-texts.ts';
import { steps, peopleTexts as texts } from './texts.ts';

type PersonProps = {
  person: FoundPerson;
  timeline: readonly TimelineEntry[];
  /** The screen itself. */
  here: string;
  /** The screens of the organization. */
  home: string;
  may: { change: boolean; erase: boolean };
};

/** One address over everything. */
export function PersonScreen({ person, timeline, here, home, may }: PersonProps) {
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
          <State kind="skipped">{texts.suppressed}</State>
        </p>
      ) : null}
      {may.change ? (
        <form method="post" action={`${here}/${isSuppressed ? 'allow' : 'suppress'}`}>
          <div class="actions">
            <button type="submit">{isSuppressed ? texts.allow : texts.suppress}</button>
            {may.erase ? (
              <a class="button danger" href={`${here}/erase`}>
                {eraseTexts.erase}
              </a>
            ) : null}
          </div>
        </form>
      ) : null}
      <section class="part" aria-labelledby="timeline">
        <div class="title">
          <h2 id="timeline">{texts.timeline}</h2>
        </div>
        <DataTable
          caption={texts.timeline}
          columns={[{ head: 'When' }, { head: 'What' }, { head: 'Survey' }, { head: 'More' }]}
          rows={timeline.map((entry) => ({
            cells: [
              <Time at={entry.at} show="second" />,
              <What entry={entry} />,
              entry.survey_id ? (
                <a href={`${home}/surveys/${entry.survey_id}`}>
                  <bdi>{entry.survey_name}</bdi>
                </a>
              ) : (
                'all surveys'
              ),
              <More entry={entry} home={home} />,
            ],
          }))}
        />
      </section>
    </>
  );
}

/** What went as it should is plain: colour is for the rest. */
function What({ entry }: { entry: TimelineEntry }) {
  const { kind, text } = steps[entry.what];
  if (kind === 'fine') return <>{text}</>;
  return (
    <State kind={kind} code={entry.reason_code ?? entry.what}>
      {text}
    </State>
  );
}

function More({ entry, home }: { entry: TimelineEntry; home: string }) {
  const { reason, webhook_id: webhook, delivery_id: delivery, response_id: response } = entry;
  if (response !== null) return <a href={`${home}/responses/${response}`}>{reason}</a>;
  if (webhook === null) return <>{reason}</>;
  return <a href={`${home}/webhooks/${webhook}/deliveries/${delivery}`}>{reason}</a>;
}
