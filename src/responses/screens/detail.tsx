import { Facts } from '../../web/app/lists.tsx';
import { Chip, State, Time } from '../../web/app/marks.tsx';
import type { Neighbours } from '../neighbours.ts';
import { Analysis } from './analysis.tsx';
import { Acts, FollowUpPart, NotePart, TagPart } from './follow-up-parts.tsx';
import type { ResponseOrigin } from './shown.queries.ts';
import {
  type DetailProps,
  personOf,
  type ResponsePlace,
  type ShownResponse,
  scaleText,
  scoreText,
} from './shown.ts';

/** The id of the heading that names whose response it is. */
export const whoId = 'answer-who';

/** One response: what was answered, what was made of it, and what is to be done. */
export function ResponseDetail(props: DetailProps) {
  const { response, origin, others, path, query, editor } = props;
  const here = { path: `${path}/${response.id}`, query };
  return (
    <div class="columns even">
      <article aria-label="The response">
        <Said {...props} />
        {response.held ? <Held here={here} origin={origin} mayRelease={editor !== null} /> : null}
        {editor === null ? null : <Acts {...props} here={here} editor={editor} />}
        <Analysis response={response} origin={origin} />
      </article>
      <section class="follow-up" aria-label="Following it up">
        <TagPart {...props} here={here} />
        <FollowUpPart {...props} here={here} />
        <NotePart {...props} here={here} />
        {editor === null ? null : (
          <div class="actions">
            <a class="button danger" href={`${here.path}/delete${query}`}>
              Delete
            </a>
          </div>
        )}
      </section>
      {others.length > 0 ? (
        <Others others={others} path={path} query={query} person={personOf(response)} />
      ) : null}
    </div>
  );
}

type NextProps = Pick<DetailProps, 'path' | 'query'> & { neighbours: Neighbours };

/** The ways to the responses next to it in the list that it was opened from. */
export function NextResponses({ path, query, neighbours }: NextProps) {
  const { newer, older } = neighbours;
  if (!newer && !older) return null;
  return (
    <nav class="actions" aria-label="Other responses of the list">
      {newer ? (
        <a class="button" href={`${path}/${newer}${query}`} rel="prev">
          Newer
        </a>
      ) : null}
      {older ? (
        <a class="button" href={`${path}/${older}${query}`} rel="next">
          Older
        </a>
      ) : null}
    </nav>
  );
}

function Said({ response, origin, path }: DetailProps) {
  const { score, category, survey_type, comment, survey_id, survey_name, created_at } = response;
  const { contact_email: email } = response;
  const people = path.replace(/responses$/, 'people');
  return (
    <div>
      <div class="title">
        <h2 id={whoId}>
          <bdi>{personOf(response)}</bdi>
        </h2>
        <Chip score={`${score} ${scaleText(survey_type)}`} category={category} big />
      </div>
      <p class="small soft">
        {email && origin.contact_id ? (
          <>
            <a href={`${people}/${origin.contact_id}`}>
              <bdi>{email}</bdi>
            </a>
            {' · '}
          </>
        ) : null}
        <a href={`${path}?survey_id=${survey_id}`}>
          <bdi>{survey_name}</bdi>
        </a>
        {' · '}
        <Time at={created_at} />
      </p>
      {comment ? (
        <blockquote class="words" dir="auto">
          {comment}
        </blockquote>
      ) : (
        <p class="soft">No comment</p>
      )}
      <Properties properties={response.properties} />
    </div>
  );
}

function Properties({ properties }: Pick<ShownResponse, 'properties'>) {
  const facts = Object.entries(properties).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  );
  if (facts.length === 0) return null;
  return (
    <details class="reveal">
      <summary>Properties</summary>
      <Facts facts={facts} />
    </details>
  );
}

type HeldProps = { here: ResponsePlace; origin: ResponseOrigin; mayRelease: boolean };

function Held({ here, origin, mayRelease }: HeldProps) {
  return (
    <form method="post" action={`${here.path}/release${here.query}`}>
      <h3>
        <State kind="waiting" code={origin.held_reason ?? ''}>
          This response is held
        </State>
      </h3>
      <p>{heldReason(origin.held_reason ?? '')} It counts nowhere until it is released.</p>
      {mayRelease ? (
        <button type="submit" class="primary">
          Release
        </button>
      ) : null}
    </form>
  );
}

type OthersProps = Pick<DetailProps, 'others' | 'path' | 'query'> & { person: string };

const Others = ({ others, path, query, person }: OthersProps) => (
  <div>
    <h3>
      Other responses by <bdi>{person}</bdi>
    </h3>
    <ul class="rows">
      {others.map(({ id, score, category, type, survey_name, created_at, comment }) => (
        <li>
          <Chip score={scoreText(type, score)} category={category} />
          <div>
            <p class="who">
              <a href={`${path}/${id}${query}`}>
                <bdi>{survey_name}</bdi>
              </a>{' '}
              <span class="meta">
                <Time at={created_at} show="day" />
              </span>
            </p>
            <p class={comment ? undefined : 'soft'} dir="auto">
              {comment ?? 'No comment'}
            </p>
          </div>
        </li>
      ))}
    </ul>
  </div>
);

/** Why a response is on hold, by the reason that is stored. */
const heldReasons: Readonly<Record<string, string>> = {
  hidden_field: 'A field that people do not see was filled in.',
  hidden_link: 'A link that people do not see was opened shortly before.',
  scores_opened: 'Links with different scores were opened within 10 seconds before it.',
  scores_posted: 'Another score was given by the same link within 2 seconds before it.',
};

const heldReason = (reason: string) => heldReasons[reason] ?? 'A machine seems to have given it.';
