import { Field } from '../../web/app/fields.tsx';
import { count, counted, DataTable, EmptyState } from '../../web/app/lists.tsx';
import { Mistakes, State, Time } from '../../web/app/marks.tsx';
import { PagedList } from '../../web/app/paged-list.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import type { SurveyContact } from '../survey.queries.ts';

type ContactListProps = {
  contacts: readonly SurveyContact[];
  total: number;
  page: { page: number; limit: number };
  search: string;
  form: FormState;
  /** The path of the survey. */
  here: string;
  mayEdit: boolean;
  /** The days after which the survey asks by itself, if it does. */
  askAfterDays: number | null;
};

export function ContactList(props: ContactListProps) {
  const { total, search, form, here, mayEdit } = props;
  return (
    <>
      <Mistakes form={form} />
      {mayEdit ? (
        <section class="columns even" aria-label="Add contacts">
          <UploadForm form={form} here={here} />
          <AddForm form={form} here={here} />
        </section>
      ) : null}
      <section aria-labelledby="list">
        <div class="title">
          <h2 id="list">Contacts</h2>
          <span class="small soft">
            {counted(
              total,
              search === '' ? 'contact' : 'match',
              search === '' ? 'contacts' : 'matches',
            )}
          </span>
        </div>
        <Search search={search} here={here} />
        <div id="contacts">
          <Rows {...props} />
        </div>
      </section>
    </>
  );
}

function UploadForm({ form, here }: { form: FormState; here: string }) {
  return (
    <div>
      <h2 id="upload">Upload a list</h2>
      <form
        method="post"
        action={`${here}/contacts/uploads`}
        enctype="multipart/form-data"
        class="fields"
      >
        <Field
          name="file"
          label="File"
          type="file"
          accept=".csv,.tsv,.txt,text/csv"
          form={form}
          help="CSV with a column of addresses, of any separator, with or without a header; at most 100,000 rows."
        />
        <Field
          name="list"
          label="List"
          rows={3}
          form={form}
          help="Or paste rows from a spreadsheet."
        />
        <div class="actions">
          <button type="submit">Upload</button>
        </div>
      </form>
    </div>
  );
}

function AddForm({ form, here }: { form: FormState; here: string }) {
  return (
    <div>
      <h2 id="add">Add one</h2>
      <form method="post" action={`${here}/contacts`} class="fields">
        <Field name="email" label="Email" type="email" form={form} autocomplete="off" required />
        <Field name="name" label="Name" form={form} autocomplete="off" maxlength={200} />
        <div class="actions">
          <button type="submit">Add</button>
        </div>
      </form>
    </div>
  );
}

/** Filters as one types; without script by its button. */
function Search({ search, here }: { search: string; here: string }) {
  return (
    <form
      method="get"
      action={`${here}/contacts`}
      class="inline"
      hx-get={`${here}/contacts`}
      hx-trigger="input changed delay:300ms from:#search, submit"
      hx-target="#contacts"
      hx-select="#contacts"
      hx-swap="outerHTML"
    >
      <Field
        id="search"
        name="search"
        label="Search"
        type="search"
        value={search}
        autocomplete="off"
      />
      <button type="submit">Search</button>
    </form>
  );
}

function Rows({ contacts, total, page, search, here, askAfterDays }: ContactListProps) {
  const at = (number: number) => {
    const query = new URLSearchParams({ ...(search && { search }), page: String(number) });
    return `${here}/contacts?${query}`;
  };
  return (
    <PagedList
      meta={{ ...page, total }}
      at={at}
      empty={
        <EmptyState
          title={search === '' ? 'This survey has no contacts yet.' : 'No contact matches.'}
        >
          {search === '' ? <p>{noneMeans(askAfterDays)}</p> : null}
        </EmptyState>
      }
    >
      <DataTable
        caption="Contacts, newest first"
        columns={[
          { head: 'Email' },
          { head: 'Name' },
          { head: 'State' },
          { head: 'Mailed' },
          { head: 'Answered' },
        ]}
        rows={contacts.map((contact) => ({ cells: cellsOf(contact) }))}
      />
    </PagedList>
  );
}

function cellsOf({ email, name, status, failure_reason, sent_at, responded_at }: SurveyContact) {
  const [kind, word] = statusOf(status);
  return [
    <bdi>{email}</bdi>,
    name ? <bdi>{name}</bdi> : '',
    <>
      <State kind={kind} code={status}>
        {word}
      </State>
      {failure_reason ? <span class="small soft block">{failure_reason}</span> : null}
    </>,
    sent_at ? <Time at={sent_at} show="ago" /> : '',
    responded_at ? <Time at={responded_at} show="ago" /> : '',
  ];
}

/** When a contact that is added is mailed. */
function sendingMeans(askAfterDays: number | null): string {
  if (askAfterDays === null) return 'Nothing is sent before you press Send.';
  const when =
    askAfterDays === 0 ? 'as soon as it is added' : `${counted(askAfterDays, 'day')} later`;
  return `This survey asks by itself: it mails each contact ${when}.`;
}

type Imported = { added: number; known: number; repeated: number; invalid: number };

const statusWords = {
  pending: ['waiting', 'Not asked yet'],
  sending: ['waiting', 'Being mailed'],
  sent: ['fine', 'Mailed'],
  responded: ['fine', 'Answered'],
  failed: ['failed', 'Failed'],
  bounced: ['failed', 'Bounced'],
  unsubscribed: ['skipped', 'Unsubscribed'],
} as const;

type ContactStatus = keyof typeof statusWords;

const statusOf = (status: ContactStatus) => statusWords[status];

const noneMeans = (askAfterDays: number | null) =>
  `Upload a list, or add one contact. ${sendingMeans(askAfterDays)}`;

export const imported = ({ added, known, repeated, invalid }: Imported) =>
  [
    `${counted(added, 'contact')} added`,
    `${count(known)} known before`,
    ...(repeated > 0 ? [`${count(repeated)} listed twice`] : []),
    ...(invalid > 0 ? [`${counted(invalid, 'line')} left out`] : []),
  ].join(', ');
