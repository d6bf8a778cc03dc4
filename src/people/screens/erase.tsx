import type { Context, Hono } from 'hono';
import * as v from 'valibot';
import { orNotFound } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { parseList, readList } from '../../lib/paging/page.ts';
import { addressKey } from '../../lib/smtp/address.ts';
import { idParam } from '../../lib/validation/parse.ts';
import { requireRecentProof, requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { Confirm, State, Time } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  Choice,
  emptyForm,
  type FormState,
  readForm,
  withFieldError,
} from '../../web/app/forms.tsx';
import { counted, DataTable, SearchedList } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { ErasureQuery } from '../api.ts';
import { type ErasureReceipt, listErasures } from '../erase.queries.ts';
import {
  allowErasedAddress,
  type EraseTools,
  type ErasureCounts,
  erasedKinds,
  erasePerson,
} from '../erase.ts';
import { type FoundPerson, findPerson } from '../people.ts';

const EraseForm = v.object({
  email: v.optional(v.string(), ''),
  scores: v.optional(v.picklist(['keep', 'delete']), 'keep'),
});

export function addErasureScreens(app: Hono<ScreenEnv>, tools: EraseTools) {
  return app
    .get('/erased', (c) => showErasures(c, tools))

    .post('/erased/:id/allow', async (c) => {
      const owner = requireRole(c, 'owner');
      await allowErasedAddress(tools, owner, idParam(c, 'erasure'));
      return redirectWith(
        c,
        erasedPath(c),
        'Address unblocked. It can be added and emailed again.',
      );
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
          await withFieldError(c, { email: 'That doesn’t match this person’s email address.' }),
        );
      }
      const request = { email, scores: scores === 'keep' ? 'kept' : 'deleted' } as const;
      await erasePerson(tools, owner, request);
      return redirectWith(
        c,
        erasedPath(c),
        'Person erased. The first receipt in this list is your proof.',
      );
    });
}

const erasedPath = (c: Context<ScreenEnv>) => `${peoplePath(c)}/erased`;

async function showErasures(c: Context<ScreenEnv>, { db }: EraseTools) {
  const { orgId } = requireRole(c, 'owner');
  const typed = c.req.query('email')?.trim() ?? '';
  const { email, ...query } = parseList(ErasureQuery, c.req.queries());
  const filter = { ...query, ...(typed !== '' && { email }) };
  const { data, meta } = await readList<ErasureReceipt>(db, listErasures(db, orgId, filter));
  const path = erasedPath(c);
  const body = (
    <SearchedList
      path={path}
      meta={meta}
      id="erasures"
      search={{ name: 'email', label: 'Email', purpose: 'Find receipts', value: typed }}
      found={counted(meta.total, 'receipt')}
      about="Receipts contain no addresses. Enter an address to find its receipts."
      none={{
        title: 'Nobody has been erased yet',
        means: 'Erase a person on their page. The receipt appears here.',
        icon: 'users',
      }}
      noneFound={{
        title: 'No receipt for this address',
        means: 'It was never erased in this organization.',
      }}
    >
      <DataTable
        caption="Receipts, newest first"
        columns={[
          'Erased',
          { head: 'Data', phone: 'line' },
          { head: 'Address', phone: 'beside' },
          'Receipt',
        ]}
        rows={data.map((receipt) => ({
          cells: [
            <Time at={new Date(receipt.erased_at)} show="day" />,
            <>
              {countsText(receipt.counts)}
              <span class="soft block">
                {receipt.scores === 'kept'
                  ? 'Scores kept as anonymous responses.'
                  : 'Scores deleted.'}
              </span>
            </>,
            <Address path={path} receipt={receipt} />,
            <>
              <span class="mono">{receipt.id}</span>
              <small class="mono sub block" title={receipt.address_hash}>
                {receipt.address_hash.slice(0, shownOfHash)}…
              </small>
            </>,
          ],
        }))}
      />
    </SearchedList>
  );
  const trail = [{ text: 'People', href: peoplePath(c) }];
  return renderScreen(c, { title: 'Erased people', section: 'people', trail, body });
}

function showErase(c: Context<ScreenEnv>, { email }: FoundPerson, form: FormState) {
  const person = `${peoplePath(c)}/${c.req.param('id')}`;
  return renderScreen(c, {
    title: 'Erase this person',
    section: 'people',
    form,
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
          Permanently deletes all data about {email}: contacts in all surveys, emails, visits,
          comments and everything derived from them.
        </p>
        <p>
          Only a fingerprint of the address is kept, from which it can’t be read, so that it gets no
          surveys again.
        </p>
        <Choice
          name="scores"
          label="Scores"
          form={form}
          value="keep"
          options={[
            { value: 'keep', text: 'Keep as anonymous', help: 'Past results stay the same.' },
            { value: 'delete', text: 'Delete', help: 'Past results change.' },
          ]}
        />
      </Confirm>
    ),
  });
}

const shownOfHash = 16;

function Address({ path, receipt }: { path: string; receipt: ErasureReceipt }) {
  if (receipt.allowed_at) {
    return (
      <>
        Unblocked <Time at={new Date(receipt.allowed_at)} show="ago" />
      </>
    );
  }
  return (
    <div class="acts">
      <State kind="skipped">Blocked</State>
      <form method="post" action={`${path}/${receipt.id}/allow`}>
        <button type="submit" class="mini">
          Unblock
          <span class="hidden"> {receipt.id}</span>
        </button>
      </form>
    </div>
  );
}

function countsText(counts: ErasureCounts): string {
  const texts = Object.entries(erasedKinds).flatMap(([kind, [one, many]]) => {
    const number = counts[kind as keyof ErasureCounts];
    return number > 0 ? [counted(number, one, many)] : [];
  });
  return texts.join(', ') || 'nothing else';
}

export async function getPerson(c: Context<ScreenEnv>, db: Db) {
  const person = await findPerson(db, c.var.organization.id, idParam(c, 'person'));
  return orNotFound(person, 'person');
}

export const peoplePath = (c: Context<ScreenEnv>) => `/o/${c.var.organization.slug}/people`;
