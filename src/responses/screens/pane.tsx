import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import { capital, notFound } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { readJson } from '../../lib/paging/page.ts';
import { AnswerFacts } from '../../questions/shown-answers.tsx';
import { listCannedTexts } from '../../replies/canned-texts.ts';
import { ReplyPart } from '../../replies/reply-part.tsx';
import type { ScreenEnv, SignedInMember } from '../../sessions/session.ts';
import { scoreName, typeFacts } from '../../survey-types.ts';
import { Avatar, Breakable, Chip, State, Tag, Time } from '../../web/app/badges.tsx';
import {
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  optionsOf,
  Select,
} from '../../web/app/forms.tsx';
import { Icon } from '../../web/app/icon.tsx';
import { ActMenu, Facts } from '../../web/app/lists.tsx';
import { findResponse } from '../queries.ts';
import { ResponseRow } from '../response-row.tsx';
import { type FilterChoices, findOrigin, listOthers } from './choices.ts';
import { pathOf, personOf, queryOf, type ShownResponse } from './paths.ts';

export type PaneForms = { note?: FormState; reply?: FormState };

export type ReadResponse = Awaited<ReturnType<typeof readResponse>>;

export async function getResponse(c: Context<ScreenEnv>, db: Db, id: string) {
  const statement = findResponse(db, c.var.organization.id, id);
  const answer = await readJson<{ data: ShownResponse } | null>(db, statement);
  if (!answer) throw notFound('response');
  return answer.data;
}

export async function readResponse(c: Context<ScreenEnv>, db: Db, id: string) {
  const orgId = c.var.organization.id;
  const [response, origin, texts, others] = await Promise.all([
    getResponse(c, db, id),
    findOrigin(db, orgId, id),
    listCannedTexts(db, orgId),
    listOthers(db, orgId, id),
  ]);
  if (!origin) throw notFound('response');
  return { response, origin, texts, others };
}

const whoId = 'answer-who';

type PaneProps = {
  c: Context<ScreenEnv>;
  read: ReadResponse;
  /** The page of the list. */
  list: readonly ShownResponse[];
  choices: FilterChoices;
  forms: PaneForms;
};

/** The open response. On narrow screens it replaces the list. */
export function ResponsePane({ c, read, list, choices, forms }: PaneProps) {
  const { response } = read;
  const [path, query] = [pathOf(c), queryOf(c)];
  const editor = c.var.organization.role === 'viewer' ? null : c.var.member;
  const { note = emptyForm(), reply = emptyForm() } = forms;
  const props: DetailProps = { ...read, choices, path, query, editor, note, reply };
  return (
    <article
      class="pane"
      id="answer"
      aria-labelledby={whoId}
      tabindex={-1}
      data-address={`${path}/${response.id}${query}`}
      data-says={`Response of ${personOf(response)}`}
    >
      <div class="spread back">
        <LinkButton
          href={`${path}${query}`}
          text="Back to the list"
          kind="quiet"
          icon="arrow-left"
          mini
        />
        <Neighbours path={path} query={query} list={list} response={response} />
      </div>
      <PersonHead {...props} />
      <Said {...props} />
      {response.held ? <HeldNotice {...props} /> : null}
      <ResponseActions {...props} />
      <AnswerFacts answers={response.answers} path={path} surveyId={response.survey_id} />
      <Analysis {...props} />
      <TagPart {...props} />
      <Replies {...props} />
      <NotePart {...props} />
      <FollowUpPart {...props} />
      <Properties {...props} />
      {read.others.length > 0 ? <Others {...props} /> : null}
    </article>
  );
}

export const EmptyPane = () => (
  <section class="pane" id="answer" aria-label="Selected response" tabindex={-1}>
    <p class="soft">Select a response to read it.</p>
  </section>
);

type NeighboursProps = Pick<DetailProps, 'path' | 'query' | 'response'> & Pick<PaneProps, 'list'>;

/** Also finds the place of a response that no longer matches the filter. */
function Neighbours({ path, query, list, response }: NeighboursProps) {
  const placeOf = ({ created_at, id }: ShownResponse) => created_at + id;
  const at = list.findIndex((row) => placeOf(row) <= placeOf(response));
  if (at === -1) return null;
  const link = (row: ShownResponse | undefined, rel: 'prev' | 'next', text: string) =>
    row ? (
      <LinkButton href={`${path}/${row.id}${query}`} rel={rel} text={text} kind="quiet" mini />
    ) : null;
  return (
    <nav class="acts" aria-label="Other responses in the list">
      {link(list[at - 1], 'prev', 'Newer')}
      {link(list[list[at]?.id === response.id ? at + 1 : at], 'next', 'Older')}
    </nav>
  );
}

type DetailProps = ReadResponse & {
  choices: FilterChoices;
  path: string;
  query: string;
  /** The signed-in member, or null for a viewer. */
  editor: Pick<SignedInMember, 'email' | 'name'> | null;
  note: FormState;
  reply: FormState;
};

const actionOf = ({ path, query, response }: DetailProps, act = '') =>
  `${path}/${response.id}${act}${query}`;

function PersonHead({ response, origin, path }: DetailProps) {
  const { score, category, survey_type, survey_id, survey_name, created_at } = response;
  const { control, highest } = typeFacts(survey_type);
  return (
    <header class="spread">
      <div class="person">
        <Avatar name={response.contact_name ?? response.contact_email} size="lg" />
        <div>
          <h2 id={whoId}>
            <bdi>{personOf(response)}</bdi>
          </h2>
          {response.contact_email && origin.contact_id ? (
            <p class="sub">
              <a href={`${path.replace(/responses$/, 'people')}/${origin.contact_id}`}>
                <bdi>
                  <Breakable text={response.contact_email} />
                </bdi>
              </a>
            </p>
          ) : null}
          <p class="sub tags">
            <a href={`${path}?survey_id=${survey_id}`}>
              <bdi>{survey_name}</bdi>
            </a>
            <Time at={created_at} />
          </p>
        </div>
      </div>
      <Chip
        score={control === 'thumb' ? scoreName(survey_type, score) : `${score} of ${highest}`}
        category={category}
        big
      />
    </header>
  );
}

const Said = ({ response: { comment } }: DetailProps) =>
  comment ? (
    <blockquote class="said words" dir="auto">
      {comment}
    </blockquote>
  ) : (
    <p class="soft">No comment</p>
  );

function Properties({ response }: DetailProps) {
  const properties = Object.entries(response.properties).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  );
  return properties.length === 0 ? null : (
    <details class="reveal">
      <summary>Properties</summary>
      <Facts facts={properties} />
    </details>
  );
}

const heldReasons: Readonly<Record<string, string>> = {
  hidden_field: 'A field that people can’t see was filled in.',
  hidden_link: 'A link that people can’t see was opened shortly before.',
  scores_opened: 'Probably a mail scanner: several score links were opened within 10 seconds.',
  scores_posted: 'Probably a mail scanner: several scores were given within 2 seconds.',
};

function HeldNotice(props: DetailProps) {
  const reason = props.origin.held_reason ?? '';
  return (
    <form method="post" action={actionOf(props, '/release')} class="notice is-warn">
      <Icon name="triangle-alert" />
      <p>
        <b title={reason}>This response is on hold.</b>{' '}
        {heldReasons[reason] ?? 'It looks automated.'} It won’t count until you release it.
      </p>
      {props.editor === null ? null : (
        <button type="submit" class="mini">
          Release
        </button>
      )}
    </form>
  );
}

/** The line below the list explains the keys of these buttons. */
function ResponseActions(props: DetailProps) {
  const { state, owner } = props.response;
  if (props.editor === null) return null;
  const name = props.choices.members.find(({ email }) => email === owner)?.name ?? owner;
  return (
    <div class="acts">
      <form method="post" action={actionOf(props)} class="acts">
        <input type="hidden" name="shown_owner" value={owner ?? ''} />
        {owner === props.editor.email ? null : (
          <button type="submit" name="owner" value={props.editor.email} aria-keyshortcuts="a">
            <Icon name="user-plus" />
            Assign to me
          </button>
        )}
        <button
          type="submit"
          name="state"
          value={state === 'done' ? 'open' : 'done'}
          aria-keyshortcuts="e"
        >
          <Icon name="circle-check" />
          {state === 'done' ? 'Reopen' : 'Mark as done'}
        </button>
      </form>
      <ActMenu>
        <li>
          <a class="danger" href={actionOf(props, '/delete')}>
            Delete
          </a>
        </li>
      </ActMenu>
      <span class="sub">
        {owner ? (
          <>
            Owner: <bdi>{name}</bdi>{' '}
          </>
        ) : null}
        {state === 'done' ? <State kind="fine">Done</State> : null}
      </span>
    </div>
  );
}

function Replies(props: DetailProps) {
  const { response, origin, editor, reply: form, texts } = props;
  const { from_email: address, reply_to: replyTo, suppressed } = origin;
  const mayReply = editor !== null && response.contact_email !== null;
  const compose = mayReply && {
    action: actionOf(props, '/replies'),
    form,
    texts,
    suppressed,
    from: { name: editor.name, address, replyTo },
  };
  return <ReplyPart replies={response.replies ?? []} compose={compose || null} />;
}

function Analysis({ response, origin }: DetailProps) {
  const { ai_sentiment: sentiment, ai_themes: themes, ai_churn_risk: risk } = response;
  const analyst = origin.provider === 'built-in' ? 'the built-in analyst' : origin.provider;
  if (analyst === null) return null;
  const facts: [string, Child][] = [];
  if (sentiment && sentiment !== 'unknown') facts.push(['Sentiment', capital(sentiment)]);
  if (themes.length > 0) facts.push(['Themes', themes.join(', ')]);
  if (risk && risk !== 'unknown') {
    const shown = capital(risk);
    facts.push(['Churn risk', risk === 'high' ? <State kind="failed">{shown}</State> : shown]);
  }
  return (
    <section class="insight" aria-labelledby="analysis">
      <h3 class="label" id="analysis">
        <Icon name="sparkles" />
        Analysis
      </h3>
      {response.ai_summary ? <p dir="auto">{response.ai_summary}</p> : null}
      {facts.length > 0 ? <Facts facts={facts} /> : null}
      <p class="sub">Analyzed by {analyst}; may be wrong.</p>
    </section>
  );
}

function TagPart(props: DetailProps) {
  const { tags } = props.response;
  const free = props.choices.tags.filter(({ id }) => !tags.some((tag) => tag.id === id));
  const mayAdd = props.editor !== null && free.length > 0;
  if (tags.length === 0 && !mayAdd) return null;
  return (
    <form method="post" action={actionOf(props, '/tags')} class="acts">
      <h3 id="tags-head">Tags</h3>
      {tags.length === 0 ? null : (
        <ul class="tags" aria-labelledby="tags-head">
          {tags.map(({ id, name }) => (
            <li>
              <Tag name={name}>
                {props.editor === null ? null : (
                  <button
                    type="submit"
                    name="untag"
                    value={id}
                    aria-label={`Remove the tag ${name}`}
                  >
                    ×
                  </button>
                )}
              </Tag>
            </li>
          ))}
        </ul>
      )}
      {mayAdd ? (
        <details class="menu">
          <summary class="button mini quiet" aria-keyshortcuts="#">
            <Icon name="plus" />
            Add tag
          </summary>
          <ul class="list">
            {free.map(({ id, name }) => (
              <li>
                <button type="submit" name="tag" value={id}>
                  <bdi>{name}</bdi>
                </button>
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </form>
  );
}

/** The common changes have buttons above. */
function FollowUpPart(props: DetailProps) {
  const { state, owner } = props.response;
  const { members } = props.choices;
  const name = members.find(({ email }) => email === owner)?.name ?? 'Unassigned';
  if (props.editor === null) {
    return (
      <Facts
        facts={[
          ['State', state ? capital(state) : 'No follow-up'],
          ['Owner', name],
        ]}
      />
    );
  }
  return (
    <details class="reveal">
      <summary>Owner and state</summary>
      <form method="post" action={actionOf(props)} class="stack">
        <input type="hidden" name="shown_owner" value={owner ?? ''} />
        <input type="hidden" name="shown_state" value={state ?? ''} />
        <Select
          name="owner"
          id="new-owner"
          label="Owner"
          value={owner ?? ''}
          options={[
            { value: '', text: 'Unassigned' },
            ...members.map(({ email, name }) => ({ value: email, text: name })),
          ]}
        />
        <Select
          name="state"
          id="new-state"
          label="State"
          value={state ?? ''}
          options={optionsOf({ '': 'No follow-up', open: 'Open', done: 'Done' })}
        />
        <div class="acts">
          <button type="submit">Save</button>
        </div>
      </form>
    </details>
  );
}

function NotePart(props: DetailProps) {
  const { notes = [] } = props.response;
  if (notes.length === 0 && props.editor === null) return null;
  return (
    <div class="stack tight">
      {notes.length === 0 ? null : <h3>Notes</h3>}
      <ul class="rows">
        {notes.map(({ text, author, created_at }) => (
          <li>
            <div>
              <p class="who">
                <bdi>{author}</bdi>{' '}
                <span class="meta">
                  <Time at={created_at} show="ago" />
                </span>
              </p>
              <p class="words" dir="auto">
                {text}
              </p>
            </div>
          </li>
        ))}
      </ul>
      {props.editor === null ? null : (
        <form method="post" action={actionOf(props, '/notes')} class="inline">
          <Field
            name="text"
            label="Note"
            rows={1}
            form={props.note}
            placeholder="For members only"
            aria-keyshortcuts="n"
            required
          />
          <button type="submit">Add note</button>
        </form>
      )}
    </div>
  );
}

const Others = ({ others, path, query, response }: DetailProps) => (
  <section class="stack tight" aria-labelledby="others">
    <h3 id="others">
      Other responses by <bdi>{personOf(response)}</bdi>
    </h3>
    <ul class="rows">
      {others.map((other) => (
        <li>
          <ResponseRow
            response={other}
            href={`${path}/${other.id}${query}`}
            title={other.survey_name}
            time="day"
          />
        </li>
      ))}
    </ul>
  </section>
);
