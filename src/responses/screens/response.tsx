import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { capital, notFound, toSentence } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { readJson } from '../../lib/paging/page.ts';
import { idParam, Uuid } from '../../lib/validation/parse.ts';
import { AnswerFacts } from '../../questions/shown-answers.tsx';
import { type CannedText, listCannedTexts } from '../../replies/canned-texts.ts';
import { replyToResponse } from '../../replies/reply.ts';
import { insertCannedText, ReplyFields, ReplyPart } from '../../replies/reply-part.tsx';
import type { SendProgress } from '../../sends/send.ts';
import { requireRole, type ScreenEnv, type SignedInMember } from '../../sessions/session.ts';
import { scoreName, typeFacts } from '../../survey-types.ts';
import { assetUrl } from '../../web/app/assets.ts';
import { Chip, Confirm, State, Tag, Time } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  readForm,
  Select,
  statusOf,
} from '../../web/app/forms.tsx';
import { Facts } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import type { Excerpt } from '../events.ts';
import { filterOf, parseFiltered } from '../filter.ts';
import { addNote, deleteResponse, followUp, setTags } from '../follow-up.ts';
import { findNeighbours, findResponse, type Neighbours } from '../queries.ts';
import { tryRelease } from '../release.ts';
import { ResponseRow } from '../response-row.tsx';
import { FollowUpFields, NoteInput, ResponseQuery } from '../schemas.ts';
import {
  type FilterChoices,
  filled,
  findChoices,
  findOrigin,
  inZone,
  listOthers,
  type OtherResponse,
  pathOf,
  personOf,
  queryOf,
  type ResponseOrigin,
  type ShownResponse,
} from './paths.ts';

export type ResponseScreenTools = {
  db: Db;
  excerpt: Excerpt;
  progress: Pick<SendProgress, 'watch'>;
};

const TagFields = v.object({ tag: v.optional(Uuid), untag: v.optional(Uuid) });

/** One response: below `/o/:slug/responses/:id`. */
export const responseScreen = (tools: ResponseScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/:id', (c) => showResponse(c, tools.db, {}))

    .post('/:id', async (c) => {
      const editor = requireRole(c, 'editor');
      const id = idParam(c, 'response');
      const form = await readForm(c, FollowUpFields);
      if (form.errors) return await showResponse(c, tools.db, { note: form });
      const outcome = await followUp(tools, editor, { id, ...form.values });
      if (outcome === 'saved') return redirectWith(c, hereOf(c, id), 'Response saved.');
      const text =
        'Nothing was saved: another member changed the owner since you opened this page. It now shows the current owner.';
      return redirectWith(c, hereOf(c, id), text, 'warning');
    })

    .post('/:id/tags', async (c) => {
      const editor = requireRole(c, 'editor');
      const { id, tags } = await getResponse(c, tools.db);
      const { tag, untag } = (await readForm(c, TagFields)).values ?? {};
      const before = tags.map((each) => each.id).filter((each) => each !== untag);
      await setTags(tools, editor, { id, tagIds: untag || !tag ? before : [...before, tag] });
      return redirectWith(c, hereOf(c, id), 'Tags saved.');
    })

    .post('/:id/notes', async (c) => {
      const editor = requireRole(c, 'editor');
      const id = idParam(c, 'response');
      const form = await readForm(c, NoteInput);
      if (form.errors) return await showResponse(c, tools.db, { note: form });
      await addNote(tools, editor, { id, text: form.values.text });
      return redirectWith(c, hereOf(c, id), 'Note added.');
    })

    .post('/:id/replies', async (c) => {
      const editor = requireRole(c, 'editor');
      const responseId = idParam(c, 'response');
      const form = await readForm(c, ReplyFields);
      if (form.errors) return await showResponse(c, tools.db, { reply: form });
      const { reply: text, reply_id: id, done: closes = false } = form.values;
      if (form.values.do === 'insert') {
        const reply = await insertCannedText(tools.db, editor.orgId, form.values);
        return await showResponse(c, tools.db, { reply });
      }
      const { status, reason } = await replyToResponse(tools, editor, {
        ...{ responseId, text, id, closes },
      });
      const { kind, text: notice } = replyNotices[status];
      const why = reason ? ` Reason: ${toSentence(reason)}` : '';
      return redirectWith(c, hereOf(c, responseId), `${notice}${why}`, kind);
    })

    .post('/:id/release', async (c) => {
      const editor = requireRole(c, 'editor');
      const { id } = await getResponse(c, tools.db);
      return (await tryRelease(tools, editor, id))
        ? redirectWith(c, hereOf(c, id), 'Response released. It counts now.')
        : redirectWith(c, hereOf(c, id), 'This response was already released.', 'warning');
    })

    .get('/:id/delete', async (c) => {
      requireRole(c, 'editor');
      const response = await getResponse(c, tools.db);
      const here = hereOf(c, response.id);
      const list = `${pathOf(c)}${queryOf(c)}`;
      return renderScreen(c, {
        title: 'Delete response',
        section: 'responses',
        trail: [
          { text: 'Responses', href: list },
          { text: personOf(response), href: here },
        ],
        body: (
          <Pane list={list} says="Delete response">
            <h2 class="in-pane">Delete the response of {personOf(response)}</h2>
            <Confirm action={hereOf(c, `${response.id}/delete`)} button="Delete" cancel={here}>
              <p>
                This permanently deletes the response with its notes, tags and analysis. Scores and
                trends will change. The person won’t be asked again.
              </p>
              <p>Events that were delivered to webhooks stay delivered.</p>
            </Confirm>
          </Pane>
        ),
      });
    })

    .post('/:id/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      await deleteResponse(tools, editor, idParam(c, 'response'));
      return redirectWith(c, `${pathOf(c)}${queryOf(c)}`, 'Response deleted.');
    });

const replyNotices = {
  sending: { kind: 'fine', text: 'Reply on its way. Its outcome appears with the response.' },
  sent: { kind: 'fine', text: 'Reply sent.' },
  failed: { kind: 'failed', text: 'The reply was not sent.' },
  unknown: { kind: 'warning', text: 'It is unknown if the reply arrived. It is not sent again.' },
} as const;

/** Keeps the filters of the list in the query. */
const hereOf = (c: Context<ScreenEnv>, below: string) => `${pathOf(c)}/${below}${queryOf(c)}`;

async function getResponse(c: Context<ScreenEnv>, db: Db): Promise<ShownResponse> {
  const answer = await readJson<{ data: ShownResponse } | null>(
    db,
    findResponse(db, c.var.organization.id, idParam(c, 'response')),
  );
  if (!answer) throw notFound('response');
  return answer.data;
}

async function showResponse(
  c: Context<ScreenEnv>,
  db: Db,
  { note = emptyForm(), reply = emptyForm() }: { note?: FormState; reply?: FormState },
) {
  const { id: orgId, role } = c.var.organization;
  const response = await getResponse(c, db);
  const { id } = response;
  const [origin, choices, texts] = await Promise.all([
    findOrigin(db, orgId, id),
    findChoices(db, orgId, null),
    listCannedTexts(db, orgId),
  ]);
  if (!origin) throw notFound('response');
  const queries = { ...inZone(c.var.organization), ...filled(c) };
  const [others, neighbours] = await Promise.all([
    origin.contact_id ? listOthers(db, orgId, { id, contactId: origin.contact_id }) : [],
    findNeighbours(db, orgId, {
      filter: filterOf(parseFiltered(ResponseQuery, queries)),
      position: { at: origin.at, id },
      callerGone: c.req.raw.signal,
    }),
  ]);
  const editor = role === 'viewer' ? null : c.var.member;
  const [path, query] = [pathOf(c), queryOf(c)];
  const list = `${path}${query}`;
  const title = `Response of ${personOf(response)}`;
  return renderScreen(c, {
    title,
    heading: 'Response',
    section: 'responses',
    trail: [{ text: 'Responses', href: list }],
    actions: <NextResponses {...{ path, query, neighbours }} />,
    status: statusOf({ ...note, errors: { ...note.errors, ...reply.errors } }),
    body: (
      <Pane list={list} labelledBy={whoId} says={title}>
        <ResponseDetail
          {...{ response, origin, others, choices, path, query, editor, note, reply, texts }}
        />
      </Pane>
    ),
  });
}

const whoId = 'answer-who';

type PaneProps = { list: string; labelledBy?: string; says: string; children: Child };

/** On a wide screen a script shows the content next to the list. */
const Pane = ({ list, labelledBy, says, children }: PaneProps) => (
  <section
    class="card pane"
    id="answer"
    aria-label={labelledBy ? undefined : 'Selected response'}
    aria-labelledby={labelledBy}
    tabindex={-1}
    data-list={list}
    data-says={says}
  >
    <p class="back">
      <LinkButton href={list} text="Back to the list" kind="quiet" />
    </p>
    {children}
    <script src={assetUrl('split.js')} type="module" />
  </section>
);

type NextProps = { path: string; query: string; neighbours: Neighbours };

function NextResponses({ path, query, neighbours: { newer, older } }: NextProps) {
  if (!newer && !older) return null;
  const link = (id: string | undefined, rel: 'prev' | 'next', text: string) =>
    id ? <LinkButton href={`${path}/${id}${query}`} rel={rel} text={text} /> : null;
  return (
    <nav class="acts" aria-label="Other responses in the list">
      {link(newer, 'prev', 'Newer')}
      {link(older, 'next', 'Older')}
    </nav>
  );
}

type DetailProps = {
  response: ShownResponse;
  origin: ResponseOrigin;
  others: readonly OtherResponse[];
  choices: FilterChoices;
  /** The list. */
  path: string;
  query: string;
  /** The member if the role may change a response, else null. */
  editor: Pick<SignedInMember, 'email' | 'name'> | null;
  note: FormState;
  reply: FormState;
  texts: readonly CannedText[];
};

const actionOf = (
  { path, query, response }: Pick<DetailProps, 'path' | 'query' | 'response'>,
  act = '',
) => `${path}/${response.id}${act}${query}`;

function ResponseDetail(props: DetailProps) {
  const { response, others, editor } = props;
  return (
    <div class="grid half">
      <article aria-label="Response">
        <AnswerText {...props} />
        {response.held ? <HeldNotice {...props} /> : null}
        {editor === null ? null : <ResponseActions {...props} editor={editor.email} />}
        <Replies {...props} />
        <Analysis {...props} />
      </article>
      <section class="follow-up" aria-label="Follow-up">
        <TagPart {...props} />
        <FollowUpPart {...props} />
        <NotePart {...props} />
        {editor === null ? null : (
          <div class="acts">
            <LinkButton href={actionOf(props, '/delete')} text="Delete" kind="danger" />
          </div>
        )}
      </section>
      {others.length > 0 ? <Others {...props} /> : null}
    </div>
  );
}

function AnswerText({ response, origin, path }: DetailProps) {
  const { score, category, survey_type, comment, survey_id, survey_name, created_at } = response;
  const properties = Object.entries(response.properties).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  );
  return (
    <div>
      <div class="title">
        <h2 id={whoId}>
          <bdi>{personOf(response)}</bdi>
        </h2>
        <Chip
          score={
            survey_type === 'thumbs'
              ? scoreName(survey_type, score)
              : `${score} of ${typeFacts(survey_type).highest}`
          }
          category={category}
          big
        />
      </div>
      <p class="sub">
        {response.contact_email && origin.contact_id ? (
          <>
            <a href={`${path.replace(/responses$/, 'people')}/${origin.contact_id}`}>
              <bdi>{response.contact_email}</bdi>
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
        <blockquote class="said words" dir="auto">
          {comment}
        </blockquote>
      ) : (
        <p class="soft">No comment</p>
      )}
      <AnswerFacts answers={response.answers} path={path} surveyId={survey_id} />
      {properties.length > 0 ? (
        <details class="reveal">
          <summary>Properties</summary>
          <Facts facts={properties} />
        </details>
      ) : null}
    </div>
  );
}

const heldReasons: Readonly<Record<string, string>> = {
  hidden_field: 'A field that is hidden from people was filled in.',
  hidden_link: 'A link that is hidden from people was opened shortly before.',
  scores_opened: 'Probably a mail scanner: several score links were opened within 10 seconds.',
  scores_posted: 'Probably a mail scanner: several scores were given within 2 seconds.',
};

function HeldNotice(props: DetailProps) {
  const reason = props.origin.held_reason ?? '';
  return (
    <form method="post" action={actionOf(props, '/release')}>
      <h3>
        <State kind="waiting" code={reason}>
          This response is on hold
        </State>
      </h3>
      <p>{heldReasons[reason] ?? 'It looks automated.'} It won’t count until you release it.</p>
      {props.editor === null ? null : (
        <button type="submit" class="primary">
          Release
        </button>
      )}
    </form>
  );
}

function ResponseActions(props: Omit<DetailProps, 'editor'> & { editor: string }) {
  const { state, owner, held } = props.response;
  return (
    <form method="post" action={actionOf(props)}>
      <input type="hidden" name="shown_owner" value={owner ?? ''} />
      <div class="acts">
        {owner === null ? (
          <button
            type="submit"
            class={held ? undefined : 'primary'}
            name="owner"
            value={props.editor}
          >
            Assign to me
          </button>
        ) : null}
        <button type="submit" name="state" value={state === 'done' ? 'open' : 'done'}>
          {state === 'done' ? 'Reopen' : 'Mark as done'}
        </button>
      </div>
    </form>
  );
}

function Replies(props: DetailProps) {
  const { response, origin, editor, reply: form, texts } = props;
  const { from_email: address, reply_to: replyTo, suppressed } = origin;
  const mayReply = editor !== null && response.contact_email !== null;
  const compose = mayReply && {
    ...{ action: actionOf(props, '/replies'), form, texts, suppressed },
    from: { name: editor.name, address, replyTo },
  };
  return <ReplyPart replies={response.replies ?? []} compose={compose || null} />;
}

function noAnalysisReason({ comment }: ShownResponse, { analyzed }: ResponseOrigin): string {
  if (!comment) return 'No comment to analyze.';
  return analyzed
    ? 'The comment has not been analyzed yet.'
    : 'Analysis is off for this organization. An owner can turn it on in the settings.';
}

export function Analysis({ response, origin }: Pick<DetailProps, 'response' | 'origin'>) {
  const { ai_sentiment: sentiment, ai_themes: themes, ai_churn_risk: risk } = response;
  const analyst = origin.provider === 'built-in' ? 'the built-in analyst' : origin.provider;
  return (
    <div>
      <h3>Analysis</h3>
      {analyst === null ? (
        <p class="soft">{noAnalysisReason(response, origin)}</p>
      ) : (
        <>
          {response.ai_summary ? <p dir="auto">{response.ai_summary}</p> : null}
          <Facts
            facts={[
              ['Sentiment', capital(sentiment ?? 'unknown')],
              ['Themes', themes.length > 0 ? themes.join(', ') : 'none'],
              [
                'Churn risk',
                risk === 'high' ? <State kind="warning">High</State> : capital(risk ?? 'unknown'),
              ],
            ]}
          />
          <p class="sub">Analyzed by {analyst}; may be wrong.</p>
        </>
      )}
    </div>
  );
}

function TagPart(props: DetailProps) {
  const { tags } = props.response;
  const free = props.choices.tags.filter(({ id }) => !tags.some((tag) => tag.id === id));
  return (
    <form method="post" action={actionOf(props, '/tags')} class="inline">
      <div class="field whole">
        <h3 id="tags-head">Tags</h3>
        {tags.length === 0 ? <p class="soft">none</p> : null}
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
      </div>
      {props.editor === null || free.length === 0 ? null : (
        <>
          <Select
            name="tag"
            id="new-tag"
            label="Add a tag"
            options={free.map(({ id, name }) => ({ value: id, text: name }))}
          />
          <button type="submit">Add tag</button>
        </>
      )}
    </form>
  );
}

function FollowUpPart(props: DetailProps) {
  const { state, owner } = props.response;
  const { members } = props.choices;
  if (props.editor === null) {
    return (
      <Facts
        facts={[
          ['State', state ? capital(state) : 'No follow-up'],
          ['Owner', members.find(({ email }) => email === owner)?.name ?? 'No owner'],
        ]}
      />
    );
  }
  return (
    <form method="post" action={actionOf(props)} class="stack">
      <input type="hidden" name="shown_owner" value={owner ?? ''} />
      <input type="hidden" name="shown_state" value={state ?? ''} />
      <Select
        name="owner"
        label="Owner"
        value={owner ?? ''}
        options={[
          { value: '', text: 'No owner' },
          ...members.map(({ email, name }) => ({ value: email, text: name })),
        ]}
      />
      <Select
        name="state"
        label="State"
        value={state ?? ''}
        options={[
          { value: '', text: 'No follow-up' },
          { value: 'open', text: 'Open' },
          { value: 'done', text: 'Done' },
        ]}
      />
      <div class="acts">
        <button type="submit">Save</button>
      </div>
    </form>
  );
}

function NotePart(props: DetailProps) {
  const { notes = [] } = props.response;
  return (
    <div>
      <h3>Notes</h3>
      {notes.length === 0 && props.editor === null ? <p class="soft">none</p> : null}
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
        <form method="post" action={actionOf(props, '/notes')} class="stack">
          <Field
            name="text"
            label="Note"
            rows={2}
            form={props.note}
            help="Visible to members only"
            required
          />
          <div class="acts">
            <button type="submit">Add note</button>
          </div>
        </form>
      )}
    </div>
  );
}

const Others = ({ others, path, query, response }: DetailProps) => (
  <div>
    <h3>
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
  </div>
);
