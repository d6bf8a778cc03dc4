import { Field } from '../../web/app/fields.tsx';
import { counted, DataTable, EmptyState } from '../../web/app/lists.tsx';
import { Mistakes, State, Time } from '../../web/app/marks.tsx';
import { PagedList } from '../../web/app/paged-list.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import { contactTexts, statusOf } from '../screen-texts.ts';
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
          <h2 id="list">{contactTexts.title}</h2>
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
      <h2 id="upload">{contactTexts.uploadTitle}</h2>
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
          help={contactTexts.uploadHelp}
        />
        <Field name="list" label="List" rows={3} form={form} help={contactTexts.pasteHelp} />
        <div class="actions">
          <button type="submit">{contactTexts.upload}</button>
        </div>
      </form>
    </div>
  );
}

function AddForm({ form, here }: { form: FormState; here: string }) {
  return (
    <div>
      <h2 id="add">{contactTexts.addTitle}</h2>
      <form method="post" action={`${here}/contacts`} class="fields">
        <Field name="email" label="Email" type="email" form={form} autocomplete="off" required />
        <Field name="name" label="Name" form={form} autocomplete="off" maxlength={200} />
        <div class="actions">
          <button type="submit">{contactTexts.add}</button>
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
        <EmptyState title={search === '' ? contactTexts.none : contactTexts.noneFound}>
          {search === '' ? <p>{contactTexts.noneMeans(askAfterDays)}</p> : null}
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
