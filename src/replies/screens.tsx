import * as v from 'valibot';
import { Name } from '../lib/cli/command.ts';
import type { Db } from '../lib/db/db.ts';
import { Field } from '../web/app/forms.tsx';
import { namedScreens } from '../web/app/named-screens.tsx';
import {
  changeCannedText,
  createCannedText,
  deleteCannedText,
  getCannedText,
  listCannedTexts,
  versionOfCannedText,
} from './canned-texts.ts';
import { ReplyText } from './schemas.ts';

/** Routes below `/o/:slug/settings/canned-texts`. */
export const cannedTextScreens = ({ db }: { db: Db }) =>
  namedScreens({
    setting: 'canned-texts',
    noun: 'canned text',
    about: 'Members insert them into replies to responses.',
    empty: {
      icon: 'reply',
      text: 'Save a text here that you often send in replies, such as thanks or an apology.',
    },
    onDelete: 'Members can no longer insert it. Replies that contain it stay as they are.',
    fields: v.object({ name: Name, text: ReplyText }),
    list: (orgId) => listCannedTexts(db, orgId),
    get: (orgId, id) => getCannedText(db, orgId, id),
    create: (writer, input) => createCannedText(db, writer, input),
    change: (writer, id, input, ifMatch) => changeCannedText(db, writer, { id, ...input, ifMatch }),
    remove: (writer, id) => deleteCannedText(db, writer, id),
    storedForm: (row) => ({
      version: versionOfCannedText(row),
      fields: { name: row.name, text: row.text },
    }),
    columns: [{ head: 'Text', phone: 'line' }],
    cells: ({ name, text }) => [<bdi>{name}</bdi>, <span dir="auto">{shorten(text)}</span>],
    formFields: (form, row) => (
      <Field name="text" label="Text" rows={6} form={form} value={row?.text} required />
    ),
  });

const maxShown = 120;

const shorten = (text: string) =>
  text.length > maxShown ? `${text.slice(0, maxShown).toWellFormed()}…` : text;
