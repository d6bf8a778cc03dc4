import type { Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../../errors.ts';
import { parseList } from '../../lib/paging/page.ts';
import { readJson } from '../../lib/paging/paged-json.ts';
import { addressKey } from '../../lib/smtp/address.ts';
import { isUuid } from '../../lib/validation/parse.ts';
import { requireRecentProof, requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { Confirm } from '../../web/app/acts.tsx';
import { Choice } from '../../web/app/fields.tsx';
import { flash } from '../../web/app/flash.ts';
import { emptyForm, type FormState, readForm, withMistake } from '../../web/app/read-form.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import { allowErasedAddress } from '../erasure/allow.ts';
import { type EraseTools, erasePerson } from '../erasure/erase.ts';
import { type ErasureReceipt, listErasures } from '../erasure/queries.ts';
import { ErasureQuery } from '../erasure/schemas.ts';
import type { FoundPerson } from '../queries.ts';
import { ErasureList } from './erasure-list.tsx';
import { getPerson, peoplePath } from './person-of.ts';

const rowsOnPage = '50';

const EraseForm = v.object({
  email: v.optional(v.string(), ''),
  scores: v.optional(v.picklist(['keep', 'delete']), 'keep'),
});

/** Erasing a person, and the receipts: for owners. */
export function addErasing(app: Hono<ScreenEnv>, tools: EraseTools) {
  return app
    .get('/erased', (c) => showErasures(c, tools))

    .post('/erased/:id/allow', async (c) => {
      const owner = requireRole(c, 'owner');
      const id = c.req.param('id');
      if (!isUuid(id)) throw notFound('erasure');
      await allowErasedAddress(tools, owner, id);
      flash(c, { kind: 'fine', text: 'The address may be added and mailed again.' });
      return c.redirect(erasedPath(c), 303);
    })

    .get('/:id/erase', async (c) => {
      requireRole(c, 'owner');
      requireRecentProof(c);
      return showErase(c, await getPerson(c, tools.db), emptyForm());
    })

    .post('/:id/erase', async (c) => {
      const owner = requireRole(c, 'owner');
      requireRecentProof(c);
      const person = await getPerson(c, tools.db);
      const form = await readForm(c, EraseForm);
      if (form.errors) return showErase(c, person, form);
      const { email, scores } = form.values;
      if (addressKey(email) !== addressKey(person.email)) {
        return showErase(
          c,
          person,
          await withMistake(c, { email: 'This is not the address of this person.' }),
        );
      }
      const wish = { email, scores: scores === 'keep' ? 'kept' : 'deleted' } as const;
      await erasePerson(tools, owner, wish);
      flash(c, {
        kind: 'fine',
        text: 'The person is erased. The first receipt of this list is the proof.',
      });
      return c.redirect(erasedPath(c), 303);
    });
}

const erasedPath = (c: Context<ScreenEnv>) => `${peoplePath(c)}/erased`;

async function showErasures(c: Context<ScreenEnv>, { db }: EraseTools) {
  const { orgId } = requireRole(c, 'owner');
  const typed = c.req.query('email')?.trim() ?? '';
  const { email, ...query } = parseList(ErasureQuery, {
    limit: [rowsOnPage],
    ...c.req.queries(),
  });
  const found = { ...query, ...(typed !== '' && { email }) };
  const { data, meta } = await readJson<{ data: ErasureReceipt[]; meta: ListMeta }>(
    db,
    listErasures(db, orgId, found),
  );
  return renderScreen(c, {
    title: 'Erased people',
    section: 'people',
    trail: [{ text: 'People', href: peoplePath(c) }],
    body: <ErasureList path={erasedPath(c)} email={typed} receipts={data} meta={meta} />,
  });
}

type ListMeta = { page: number; limit: number; total: number };

function showErase(c: Context<ScreenEnv>, { email }: FoundPerson, form: FormState) {
  const person = `${peoplePath(c)}/${c.req.param('id')}`;
  return renderScreen(c, {
    title: 'Erase this person',
    section: 'people',
    status: Object.keys(form.errors).length > 0 ? 422 : 200,
    trail: [
      { text: 'People', href: peoplePath(c) },
      { text: email, href: person },
    ],
    body: (
      <Confirm
        action={`${person}/erase`}
        button="Erase"
        cancel={person}
        typed={{ name: 'email', label: 'Email', expected: email }}
        form={form}
      >
        <p>
          Everything that leads to {email} is deleted for good: its contacts in all surveys, mails,
          visits, comments and what was made of them. Nothing brings it back.
        </p>
        <p>The address is kept as a keyed hash only, so that no survey is mailed to it again.</p>
        <Choice
          name="scores"
          label="Scores"
          form={form}
          value="keep"
          options={[
            { value: 'keep', text: 'Keep as anonymous', help: 'Past numbers stay as they are.' },
            { value: 'delete', text: 'Delete too', help: 'Past numbers change.' },
          ]}
        />
      </Confirm>
    ),
  });
}
