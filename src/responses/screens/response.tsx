import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { capital, notFound } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { readJson } from '../../lib/paging/page.ts';
import { idParam, Uuid } from '../../lib/validation/parse.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { scoreText, typeFacts } from '../../survey-types.ts';
import { assetUrl } from '../../web/app/assets.ts';
import { Chip, Confirm, State, Tag, Time } from '../../web/app/badges.tsx';
import { emptyForm, Field, type FormState, readForm, Select } from '../../web/app/forms.tsx';
import { Facts } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import type { Excerpt } from '../answer.ts';
import { filterOf, parseFiltered } from '../filter.ts';
import { addNote, deleteResponse, followUp, setTags } from '../follow-up.ts';
import { findNeighbours, findResponse, type Neighbours } from '../queries.ts';
import { tryRelease } from '../release.ts';
import { FollowUpFields, NoteInput, ResponseQuery } from '../schemas.ts';
import {
  type FilterChoices,
  filled,
  findChoices,
  findOrigin,
  go,
  inZone,
  listOthers,
  listPathOf,
  type OtherResponse,
  pathOf,
  personOf,
  queryOf,
  type ResponseOrigin,
  responsePathOf,
  type ShownResponse,
  trailOf,
} from './paths.ts';

type ResponsePlace = { path: string; query: string };

type DetailProps = {
  response: ShownResponse;
  origin: ResponseOrigin;
  others: readonly OtherResponse[];
  choices: FilterChoices;
  /** The list, and its filters. */
  path: string;
  query: string;
  /** The address of the reader, if its role may change a response. */
  editor: string | null;
  note: FormState;
};

export type ResponseScreenTools = { db: Db; excerpt: Excerpt };

const TagFields = v.object({ tag: v.optional(Uuid), untag: v.optional(Uuid) });

/** One response, and what editors do about it: below `/o/:slug/responses/:id`. */
export const responseScreen = (tools: ResponseScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/:id', (c) => showResponse(c, tools.db, emptyForm()))

    .post('/:id', async (c) => {
      const editor = requireRole(c, 'editor');
      const id = idParam(c, 'response');
      const form = await readForm(c, FollowUpFields);
      if (form.errors) return await showResponse(c, tools.db, form);
      const outcome = await followUp(tools, editor, { id, ...form.values });
      const isSaved = outcome === 'saved';
      return go(c, responsePathOf(c, id), {
        kind: isSaved ? 'fine' : 'warning',
        text: isSaved
          ? 'The response is saved.'
          : 'Nothing was saved: another member changed the owner of this response since you opened it. The page shows the owner of now.',
      });
    })

    .post('/:id/tags', async (c) => {
      const editor = requireRole(c, 'editor');
      const response = await getResponse(c, tools.db);
      const form = await readForm(c, TagFields);
      const { tag, untag } = form.values ?? {};
      const before = response.tags.map((each) => each.id).filter((id) => id !== untag);
      const tagIds = untag || !tag ? before : [...before, tag];
      await setTags(tools, editor, { id: response.id, tagIds });
      return go(c, responsePathOf(c, response.id), {
        kind: 'fine',
        text: 'The response is saved.',
      });
    })

    .post('/:id/notes', async (c) => {
      const editor = requireRole(c, 'editor');
      const id = idParam(c, 'response');
      const form = await readForm(c, NoteInput);
      if (form.errors) return await showResponse(c, tools.db, form);
      await addNote(tools, editor, { id, text: form.values.text });
      return go(c, responsePathOf(c, id), { kind: 'fine', text: 'The note is saved.' });
    })

    .post('/:id/release', async (c) => {
      const editor = requireRole(c, 'editor');
      const id = idParam(c, 'response');
      await getResponse(c, tools.db);
      const released = await tryRelease(tools, editor, id);
      return go(c, responsePathOf(c, id), {
        kind: released ? 'fine' : 'warning',
        text: released
          ? 'The response is released: it counts now, and its events are delivered.'
          : 'This response is not held any more: it was released already.',
      });
    })

    .get('/:id/delete', async (c) => {
      requireRole(c, 'editor');
      const response = await getResponse(c, tools.db);
      const here = responsePathOf(c, response.id);
      const action = `${pathOf(c)}/${response.id}/delete${queryOf(c)}`;
      const trail = [...trailOf(c), { text: personOf(response), href: here }];
      const body = (
        <Pane list={listPathOf(c)} says="Delete this response">
          <h2 class="in-pane">Delete the response of {personOf(response)}</h2>
          <Confirm action={action} button="Delete" cancel={here}>
            <p>
              It counts nowhere any more: scores and trends change. Its notes, tags and analysis are
              lost with it. The person is not asked again.
            </p>
            <p>What was delivered to webhooks stays there.</p>
          </Confirm>
        </Pane>
      );
      return renderScreen(c, { title: 'Delete this response', section: 'responses', trail, body });
    })

    .post('/:id/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      await deleteResponse(tools, editor, idParam(c, 'response'));
      return go(c, listPathOf(c), { kind: 'fine', text: 'The response is deleted.' });
    });

async function showResponse(c: Context<ScreenEnv>, db: Db, note: FormState) {
  const { id: orgId, role } = c.var.organization;
  const response = await getResponse(c, db);
  const [origin, choices] = await Promise.all([
    findOrigin(db, orgId, response.id),
    findChoices(db, orgId, null),
  ]);
  if (!origin) throw notFound('response');
  const { contact_id: contactId, at } = origin;
  const { id } = response;
  const [others, neighbours] = await Promise.all([
    contactId ? listOthers(db, orgId, { id, contactId }) : [],
    findNeighbours(db, orgId, {
      filter: filterIn(c),
      position: { at, id },
      callerGone: c.req.raw.signal,
    }),
  ]);
  const editor = role === 'viewer' ? null : c.var.member.email;
  const [path, query] = [pathOf(c), queryOf(c)];
  const title = `Response of ${personOf(response)}`;
  return renderScreen(c, {
    title,
    heading: 'Response',
    section: 'responses',
    trail: trailOf(c),
    actions: <NextResponses {...{ path, query, neighbours }} />,
    status: Object.keys(note.errors).length > 0 ? 422 : 200,
    body: (
      <Pane list={listPathOf(c)} labelledBy={whoId} says={title}>
        <ResponseDetail {...{ response, origin, others, choices, path, query, editor, note }} />
      </Pane>
    ),
  });
}

function filterIn(c: Context<ScreenEnv>) {
  const queries = { ...inZone(c.var.organization), ...filled(c) };
  return filterOf(parseFiltered(ResponseQuery, queries));
}

async function getResponse(c: Context<ScreenEnv>, db: Db): Promise<ShownResponse> {
  const found = await readJson<{ data: ShownResponse } | null>(
    db,
    findResponse(db, c.var.organization.id, idParam(c, 'response')),
  );
  if (!found) throw notFound('response');
  return found.data;
}

const whoId = 'answer-who';

/** One response: what was answered, what was made of it, and what is to be done. */
function ResponseDetail(props: DetailProps) {
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

function NextResponses({ path, query, neighbours }: NextProps) {
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
        <Chip score={`${score} of ${typeFacts(survey_type).highest}`} category={category} big />
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

const heldReasons: Readonly<Record<string, string>> = {
  hidden_field: 'A field that people do not see was filled in.',
  hidden_link: 'A link that people do not see was opened shortly before.',
  scores_opened: 'Links with different scores were opened within 10 seconds before it.',
  scores_posted: 'Another score was given by the same link within 2 seconds before it.',
};

const heldReason = (reason: string) => heldReasons[reason] ?? 'A machine seems to have given it.';

export function Analysis({ response, origin }: Pick<DetailProps, 'response' | 'origin'>) {
  const { ai_sentiment: sentiment, ai_themes: themes, ai_churn_risk: risk } = response;
  return (
    <div>
      <h3>Analysis</h3>
      {origin.provider === null ? (
        <p class="soft">{whyUnread(response, origin)}</p>
      ) : (
        <>
          {response.ai_summary ? <p dir="auto">{response.ai_summary}</p> : null}
          <Facts
            facts={[
              ['Sentiment', capital(sentiment ?? 'unknown')],
              ['Themes', themes.length > 0 ? themes.join(', ') : 'none'],
              ['Churn risk', riskMark(risk)],
            ]}
          />
          <p class="small soft">
            {origin.provider === 'built-in'
              ? 'Read by the built-in analyst, which can be wrong.'
              : `Read by ${origin.provider}, which can be wrong.`}
          </p>
        </>
      )}
    </div>
  );
}

function whyUnread({ comment }: { comment: string | null }, { analyzed }: ResponseOrigin): string {
  if (!comment) return 'There is no comment to read.';
  return analyzed
    ? 'Its comment has not been read yet.'
    : 'Analysis is off for this organization. An owner can switch it on in the settings.';
}

function riskMark(risk: string | null): Child {
  if (risk === null) return 'Unknown';
  return risk === 'high' ? <State kind="warning">High</State> : capital(risk);
}

type PartProps = DetailProps & { here: ResponsePlace };

function Acts({ response, origin, here, editor }: PartProps & { editor: string }) {
  const { contact_email: email, state, owner } = response;
  const subject = encodeURIComponent(`Re: ${origin.question_text}`);
  return (
    <form method="post" action={`${here.path}${here.query}`}>
      <input type="hidden" name="shown_owner" value={owner ?? ''} />
      <div class="actions">
        {owner === null ? (
          <button
            type="submit"
            class={response.held ? undefined : 'primary'}
            name="owner"
            value={editor}
          >
            Take
          </button>
        ) : null}
        {state === 'done' ? (
          <button type="submit" name="state" value="open">
            Open again
          </button>
        ) : (
          <button type="submit" name="state" value="done">
            Done
          </button>
        )}
        {email ? (
          <a class="button" href={`mailto:${encodeURIComponent(email)}?subject=${subject}`}>
            Answer by mail
          </a>
        ) : null}
      </div>
    </form>
  );
}

function TagPart({ response, choices, here, editor }: PartProps) {
  const free = choices.tags.filter(({ id }) => !response.tags.some((tag) => tag.id === id));
  return (
    <form method="post" action={`${here.path}/tags${here.query}`} class="inline">
      <div class="field whole">
        <h3 id="tags-head">Tags</h3>
        {response.tags.length === 0 ? <p class="soft">none</p> : null}
        <ul class="tags" aria-labelledby="tags-head">
          {response.tags.map(({ id, name }) => (
            <li>
              <Tag name={name}>
                {editor === null ? null : (
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
      </div>
      {editor === null || free.length === 0 ? null : (
        <>
          <Select
            name="tag"
            id="new-tag"
            label="Another tag"
            options={free.map(({ id, name }) => ({ value: id, text: name }))}
          />
          <button type="submit">Tag</button>
        </>
      )}
    </form>
  );
}

function FollowUpPart({ response, choices, here, editor }: PartProps) {
  const { state, owner } = response;
  if (editor === null) {
    const name = choices.members.find(({ email }) => email === owner)?.name;
    return (
      <Facts
        facts={[
          ['State', state ? capital(state) : 'Not followed up'],
          ['Owner', name ?? 'No owner'],
        ]}
      />
    );
  }
  return (
    <form method="post" action={`${here.path}${here.query}`} class="fields">
      <input type="hidden" name="shown_owner" value={owner ?? ''} />
      <input type="hidden" name="shown_state" value={state ?? ''} />
      <Select
        name="owner"
        label="Owner"
        value={owner ?? ''}
        options={[
          { value: '', text: 'No owner' },
          ...choices.members.map(({ email, name }) => ({ value: email, text: name })),
        ]}
      />
      <Select
        name="state"
        label="State"
        value={state ?? ''}
        options={[
          { value: '', text: 'Not followed up' },
          { value: 'open', text: 'Open' },
          { value: 'done', text: 'Done' },
        ]}
      />
      <div class="actions">
        <button type="submit">Save</button>
      </div>
    </form>
  );
}

function NotePart({ response, here, editor, note }: PartProps) {
  const { notes = [] } = response;
  return (
    <div>
      <h3>Notes</h3>
      {notes.length === 0 && editor === null ? <p class="soft">none</p> : null}
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
      {editor === null ? null : (
        <form method="post" action={`${here.path}/notes${here.query}`} class="fields">
          <Field
            name="text"
            label="Note"
            rows={2}
            form={note}
            help="Visible to members only"
            required
          />
          <div class="actions">
            <button type="submit">Add note</button>
          </div>
        </form>
      )}
    </div>
  );
}

type PaneProps = {
  list: string;
  labelledBy?: string;
  says: string;
  children: Child;
};

/** Content of a page about one response; on a wide screen a script puts it next to the list. */
const Pane = ({ list, labelledBy, says, children }: PaneProps) => (
  <section
    class="answer pane"
    id="answer"
    aria-label={labelledBy ? undefined : 'The chosen response'}
    aria-labelledby={labelledBy}
    tabindex={-1}
    data-list={list}
    data-says={says}
  >
    <p class="back">
      <a class="more" href={list}>
        Back to the list
      </a>
    </p>
    {children}
    <script src={assetUrl('split.js')} type="module" />
  </section>
);
