import { Field } from '../web/app/fields.tsx';
import { counted, DataTable, EmptyState } from '../web/app/lists.tsx';
import { Mistakes } from '../web/app/marks.tsx';
import type { FormState } from '../web/app/read-form.ts';
import { Part } from '../web/app/settings-screen.tsx';
import { defaultTagColor } from './manage.ts';
import type { TagRow } from './queries.ts';

type TagListProps = { tags: readonly TagRow[]; list: string; mayChange: boolean };

export function TagList({ tags, list, mayChange }: TagListProps) {
  const acts = mayChange ? [{ head: 'Acts', hidden: true, number: true }] : [];
  return (
    <Part id="tags" title="Tags">
      <p class="small soft">
        {counted(tags.length, 'tag')}. Tags sort responses by what you do with them. Everybody in
        the organization sees them.
      </p>
      {tags.length === 0 ? (
        <EmptyState title="No tag yet">
          <p>A tag groups responses, such as those about billing, whatever their survey.</p>
        </EmptyState>
      ) : (
        <DataTable
          caption="Tags, by name"
          columns={[{ head: 'Name' }, ...acts]}
          rows={tags.map((tag) => ({
            cells: [
              <>
                <Dot color={tag.color} /> <bdi>{tag.name}</bdi>
              </>,
              ...(mayChange ? [<Acts tag={tag} list={list} />] : []),
            ],
          }))}
        />
      )}
    </Part>
  );
}

function Acts({ tag: { id, name }, list }: { tag: TagRow; list: string }) {
  return (
    <span class="actions end">
      <a class="button" href={`${list}/${id}`}>
        Change<span class="hidden"> {name}</span>
      </a>
      <a class="button danger" href={`${list}/${id}/delete`}>
        Delete<span class="hidden"> {name}</span>
      </a>
    </span>
  );
}

/** Drawn: the policy of the page refuses styles of its own. */
const Dot = ({ color }: { color: string }) => (
  <svg class="dot" viewBox="0 0 8 8" role="img" aria-label={`color ${color}`}>
    <circle cx="4" cy="4" r="4" fill={color} />
  </svg>
);

type TagFormProps = {
  form: FormState;
  action: string;
  button: string;
  tag?: TagRow;
  cancel?: string;
};

export function TagForm({ form, action, button, tag, cancel }: TagFormProps) {
  return (
    <form method="post" action={action} class="fields narrow">
      <Mistakes form={form} />
      <Field
        name="name"
        label="Name"
        form={form}
        value={tag?.name}
        maxlength={200}
        autocomplete="off"
        required
      />
      <Field
        name="color"
        label="Color"
        type="color"
        form={form}
        value={tag?.color ?? defaultTagColor}
      />
      <div class="actions">
        <button type="submit" class="primary">
          {button}
        </button>
        {cancel ? (
          <a class="more" href={cancel}>
            Cancel
          </a>
        ) : null}
      </div>
    </form>
  );
}
