import { Field, Select } from '../../web/app/fields.tsx';
import { Facts } from '../../web/app/lists.tsx';
import { Tag, Time } from '../../web/app/marks.tsx';
import { capital, type DetailProps, type ResponsePlace } from './shown.ts';

type PartProps = DetailProps & { here: ResponsePlace };

/** The next thing to do, each by one press. */
export function Acts({ response, origin, here, editor }: PartProps & { editor: string }) {
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

export function TagPart({ response, choices, here, editor }: PartProps) {
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

export function FollowUpPart({ response, choices, here, editor }: PartProps) {
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

export function NotePart({ response, here, editor, note }: PartProps) {
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
