import * as v from 'valibot';
import { Color, Name } from '../lib/cli/command.ts';
import type { Db } from '../lib/db/db.ts';
import { Field } from '../web/app/forms.tsx';
import { namedScreens } from '../web/app/named-screens.tsx';
import {
  changeTag,
  createTag,
  defaultTagColor,
  deleteTag,
  getTag,
  listTags,
  versionOfTag,
} from './tags.ts';

/** Routes below `/o/:slug/settings/tags`. */
export const tagScreens = ({ db }: { db: Db }) =>
  namedScreens({
    setting: 'tags',
    noun: 'tag',
    about: 'Everyone in the organization sees them.',
    empty: {
      icon: 'layers',
      text: 'Use tags to group responses across surveys, for example by topic.',
    },
    onDelete:
      'Removes the tag from all responses. Filters that use it will return nothing. The responses stay.',
    fields: v.object({ name: Name, color: v.optional(Color, defaultTagColor) }),
    list: (orgId) => listTags(db, orgId),
    get: (orgId, id) => getTag(db, orgId, id),
    create: (writer, tag) => createTag(db, writer, tag),
    change: (writer, id, tag, ifMatch) => changeTag(db, writer, { id, ...tag, ifMatch }),
    remove: (writer, id) => deleteTag(db, writer, id),
    storedForm: (tag) => ({
      version: versionOfTag(tag),
      fields: { name: tag.name, color: tag.color.toLowerCase() }, // as browsers send a color
    }),
    columns: [],
    cells: ({ name, color }) => [
      <>
        <Dot color={color} /> <bdi>{name}</bdi>
      </>,
    ],
    formFields: (form, tag) => (
      <Field
        name="color"
        label="Color"
        type="color"
        form={form}
        value={tag?.color ?? defaultTagColor}
      />
    ),
  });

/** An SVG, because the CSP forbids inline styles. */
const Dot = ({ color }: { color: string }) => (
  <svg class="dot" viewBox="0 0 8 8" role="img" aria-label={`color ${color}`}>
    <circle cx="4" cy="4" r="4" fill={color} />
  </svg>
);
