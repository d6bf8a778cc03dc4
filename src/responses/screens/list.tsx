import { Select } from '../../web/app/fields.tsx';
import { counted, EmptyState } from '../../web/app/lists.tsx';
import { Live } from '../../web/app/live.tsx';
import { Chip, State, Tag, Time } from '../../web/app/marks.tsx';
import { PagedList } from '../../web/app/paged-list.tsx';
import { ExportLinks } from './export-links.tsx';
import { PropertyFilters } from './property-filters.tsx';
import type { FilterChoices } from './shown.queries.ts';
import { personOf, type ShownResponse, scoreText } from './shown.ts';

type ListProps = {
  path: string;
  query: URLSearchParams;
  responses: readonly ShownResponse[];
  meta: { page: number; limit: number; total: number };
  choices: FilterChoices;
  mayChange: boolean;
};

export const listId = 'found';

/** What a filter leaves: rows to read, and for editors to choose and tag. */
export function ResponseList(props: ListProps) {
  const { path, query, responses, meta, choices, mayChange } = props;
  const found = counted(meta.total, 'response');
  return (
    <Live id={listId} says={found}>
      <div class="title" data-list={`${path}${query.size === 0 ? '' : `?${query}`}`}>
        <h2>{found}</h2>
        <span class="small soft">newest first</span>
        {mayChange ? <ExportLinks path={path} query={query} /> : null}
      </div>
      <PropertyFilters path={path} query={query} />
      {query.get('held') === 'true' ? (
        <p class="small soft">These count nowhere until they are released.</p>
      ) : null}
      <PagedList
        meta={meta}
        at={(page) => addressOf(path, query, page)}
        empty={<None filtered={query.size > 0} path={path} />}
      >
        <form method="post" action={`${path}/chosen`}>
          <input type="hidden" name="query" value={query.toString()} />
          {mayChange ? (
            <label class="tick" data-choose-all hidden>
              <input type="checkbox" autocomplete="off" />{' '}
              {responses.length === 1 ? 'Choose it' : `Choose all ${responses.length} on this page`}
            </label>
          ) : null}
          <ul class="rows inbox">
            {responses.map((response) => (
              <Row
                response={response}
                path={path}
                query={query.size === 0 ? '' : `?${query}`}
                choosable={mayChange}
                members={choices.members}
              />
            ))}
          </ul>
          {mayChange ? (
            <Bulk tags={choices.tags} held={responses.some(({ held }) => held)} />
          ) : null}
        </form>
      </PagedList>
    </Live>
  );
}

const None = ({ filtered, path }: { filtered: boolean; path: string }) =>
  filtered ? (
    <EmptyState title="No response matches these filters">
      <p>Take one away, or look in a longer time.</p>
      <p>
        <a class="button" href={path}>
          Show all responses
        </a>
      </p>
    </EmptyState>
  ) : (
    <EmptyState title="No responses yet">
      <p>What people answer stands here, newest first. Send a survey, or share its link.</p>
    </EmptyState>
  );

type RowProps = {
  response: ShownResponse;
  path: string;
  /** The filters, which the page of the response keeps. */
  query: string;
  choosable: boolean;
  members: FilterChoices['members'];
};

function Row({ response, path, query, choosable, members }: RowProps) {
  const { id, score, category, survey_type, created_at, comment, survey_name, tags } = response;
  const { state, held } = response;
  const owner = members.find(({ email }) => email === response.owner)?.name ?? response.owner;
  return (
    <li id={`row-${id}`}>
      {choosable ? (
        <label class="tick">
          <input type="checkbox" name="id" value={id} />
          <span class="hidden">Choose the response of {personOf(response)}</span>
        </label>
      ) : null}
      <Chip score={scoreText(survey_type, score)} category={category} />
      <div>
        <p class="who">
          <a href={`${path}/${id}${query}`}>
            <bdi>{personOf(response)}</bdi>
          </a>{' '}
          <span class="meta">
            <Time at={created_at} show="ago" />
          </span>
        </p>
        {comment ? (
          <p class="said" dir="auto">
            {comment}
          </p>
        ) : (
          <p class="soft">No comment</p>
        )}
        <p class="meta tags">
          <bdi>{survey_name}</bdi>
          {tags.map(({ name }) => (
            <Tag name={name} />
          ))}
          {held ? <State kind="waiting">Held</State> : null}
          {state === 'done' ? <State kind="fine">Done</State> : null}
          {owner ? (
            <span>
              Owner: <bdi>{owner}</bdi>
            </span>
          ) : null}
        </p>
      </div>
    </li>
  );
}

/** Held responses among those shown can be released. */
function Bulk({ tags, held }: Pick<FilterChoices, 'tags'> & { held: boolean }) {
  const act = (value: string, text: string) => (
    <button type="submit" name="do" value={value}>
      {text}
      <span class="hidden"> the chosen</span>
    </button>
  );
  return (
    <fieldset class="inline bulk">
      <legend class="hidden">What to do with the chosen responses</legend>
      {held ? act('release', 'Release') : null}
      {act('done', 'Done')}
      {act('open', 'Open again')}
      {act('take', 'Take')}
      {tags.length === 0 ? null : (
        <>
          <Select
            name="tag"
            id="bulk-tag"
            label="Tag the chosen"
            options={tags.map(({ id, name }) => ({ value: id, text: name }))}
          />
          <button type="submit" name="do" value="tag">
            Tag
          </button>
          <button type="submit" name="do" value="untag">
            Untag
          </button>
        </>
      )}
    </fieldset>
  );
}

/** A page of the same filters. */
function addressOf(path: string, query: URLSearchParams, page: number) {
  const other = new URLSearchParams(query);
  other.set('page', String(page));
  return `${path}?${other}`;
}
