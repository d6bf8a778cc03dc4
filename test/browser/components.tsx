import { type Context, Hono } from 'hono';
import { getCookie } from 'hono/cookie';
import { assetRoutes } from '../../src/web/app/assets.ts';
import {
  Chip,
  Confirm,
  FormErrors,
  Notice,
  Secret,
  State,
  Tag,
  Time,
} from '../../src/web/app/badges.tsx';
import { showErrorScreen } from '../../src/web/app/error-screens.tsx';
import {
  Checkbox,
  Choice,
  emptyForm,
  Field,
  type FormState,
  guardForms,
  Select,
} from '../../src/web/app/forms.tsx';
import {
  counted,
  DataTable,
  EmptyState,
  Facts,
  FilterForm,
  Live,
} from '../../src/web/app/lists.tsx';
import { renderScreen, renderStandalone } from '../../src/web/app/screen.tsx';

/** A page for each component of the app, with long, empty, invalid and right-to-left content. */
export const componentPages = (publicUrl: string) =>
  new Hono()
    .use(guardForms(publicUrl))
    .route('/assets', assetRoutes())
    .use(async (c: Context, next) => {
      c.set('member', { name: 'Lena Dahl', email: 'lena@people.test', isOperator: true });
      c.set('organization', organization);
      c.set('otherOrganizations', [
        { name: 'Northgate Clinic', slug: 'northgate', color: '#2f6fed' },
        { name: 'مقهى الياسمين', slug: 'jasmine', color: '#b45309' },
      ]);
      await next();
    })
    .get('/lists', (c) => renderScreen(c, { ...lists(), section: 'settings' }))
    .get('/forms', (c) => renderScreen(c, { ...forms(), section: 'surveys', status: 422 }))
    .get('/acts', (c) => renderScreen(c, { ...acts(), section: null, trail }))
    .get('/live', (c) => {
      const search = c.req.query('search') ?? '';
      if (getCookie(c, 'signed_out')) return c.redirect('/alone', 303);
      if (search === 'down') return showErrorScreen(c, 503);
      return renderScreen(c, { ...live(search), section: null });
    })
    .get('/trouble/:status', (c) => showErrorScreen(c, Number(c.req.param('status')) as 404))
    .get('/alone', (c) => renderStandalone(c, signInPage()));

const organization = { name: 'Larkspur', slug: 'larkspur', color: '#2f6b5e', role: 'owner' };
const trail = [
  { text: 'Surveys', href: '/o/larkspur/surveys' },
  { text: 'Customer loyalty', href: '/o/larkspur/surveys/1' },
];

function lists() {
  const keys = [
    'website',
    'reporting',
    'crm sync',
    'a name that somebody took the time to write out',
  ];
  const body = (
    <>
      <Notice kind="fine" text="The key “website” was created." />
      <Notice kind="warning" text="83% of this month’s mails are used." />
      <section class="card" aria-labelledby="keys">
        <div class="title">
          <h2 id="keys">API Keys</h2>
          <a class="button" href="#new">
            New API Key
          </a>
        </div>
        <DataTable
          caption="API keys, newest first"
          nowrap
          columns={[
            { head: 'Name' },
            { head: 'Permission' },
            { head: 'Last used' },
            { head: 'State' },
            { head: 'Requests', number: true },
            { head: 'Act', hidden: true },
          ]}
          rows={keys.map((name, at) => ({
            current: at === 0,
            cells: [
              name,
              'Read and write',
              <Time at={new Date(Date.now() - at * 40_000_000)} show="ago" />,
              [
                <State kind="fine">Works</State>,
                <State kind="warning">Ends in 9 days</State>,
                <State kind="failed" code="revoked">
                  Revoked
                </State>,
                <State kind="waiting">Never used</State>,
              ][at],
              at * 1234,
              <a class="button danger" href="#revoke">
                Revoke<span class="hidden"> {name}</span>
              </a>,
            ],
          }))}
        />
      </section>
      <section class="card" aria-labelledby="newest">
        <div class="title">
          <h2 id="newest">Newest comments</h2>
        </div>
        <ul class="rows">
          <li>
            <Chip score={2} category="detractor" />
            <div>
              <p class="who">
                <a href="#one">Priya Okafor</a>
                <span class="meta">
                  <Time at={new Date()} show="ago" />
                </span>
              </p>
              <p>We were billed twice and it took three weeks to get an answer.</p>
              <p class="tags">
                <Tag name="billing" />
                <Tag name="فواتير" />
              </p>
            </div>
          </li>
          <li>
            <Chip score={10} category="promoter" />
            <div>
              <p class="who">
                <a href="#two">Ben Dahl</a>
                <span class="meta">
                  <Time at="2026-11-20T16:22:00Z" />
                </span>
              </p>
              <p>{'Unbreakable'.repeat(30)}</p>
            </div>
          </li>
        </ul>
      </section>
      <section class="card" aria-labelledby="none">
        <h2 id="none">Tags</h2>
        <EmptyState title="No tags yet">
          <p>
            A tag groups responses, by topic for example. Tag a response, and the tag stands here.
          </p>
          <div class="acts">
            <a class="button" href="#responses">
              Go to Responses
            </a>
          </div>
        </EmptyState>
        <p class="sub">{counted(1, 'tag')}</p>
        <Facts
          facts={[
            ['URL', <span class="mono">https://hooks.example.com/feedback</span>],
            ['Created', <Time at="2026-03-03T12:00:00Z" show="day" />],
          ]}
        />
      </section>
    </>
  );
  return { title: 'API Keys', heading: 'Settings', body };
}

const wrong: FormState = {
  typed: { name: 'x', permission: 'write' },
  errors: {
    name: 'Must have at least 2 characters.',
    permission: 'Required.',
    expires: 'Choose one of these.',
    agree: 'Required.',
  },
};

function forms() {
  const permissions = [
    { value: 'read', text: 'Read', help: 'sees everything, changes nothing' },
    { value: 'write', text: 'Read and write', help: 'also sends mails' },
  ];
  const body = (
    <form method="post" class="card stack narrow">
      <FormErrors form={wrong} />
      <Field
        name="name"
        label="Name"
        form={wrong}
        help="What will use it, such as “website”."
        required
      />
      <Choice name="permission" label="Permission" form={wrong} options={permissions} />
      <Choice name="events" label="Events" several options={permissions} value={['read']} />
      <Select
        name="expires"
        label="Expires"
        form={wrong}
        options={[
          { value: 'year', text: 'In a year' },
          { value: 'never', text: 'Never' },
        ]}
      />
      <Field name="note" label="Note" rows={4} value="Two\nlines" />
      <Field name="day" label="From" type="date" form={emptyForm({ day: '2026-11-22' })} />
      <Checkbox name="agree" label="Send it at once" form={wrong} />
      <div class="acts">
        <button type="submit" class="primary">
          Create key
        </button>
        <a class="button quiet" href="#cancel">
          Cancel
        </a>
      </div>
    </form>
  );
  return { title: 'New API Key', body };
}

function acts() {
  const expected = 'maya@people.test';
  const body = (
    <>
      <Secret title="Copy the key “website” now" label="Key" value="ask_live_EXAMPLE" done="#done">
        <p class="sub">It is shown only once. askback keeps a hash of it.</p>
      </Secret>
      <Confirm
        action="/erase"
        button="Erase"
        cancel="#back"
        typed={{ name: 'typed', label: 'Email', expected }}
      >
        <p>Every response, mail and note of this person is deleted. Nothing brings them back.</p>
      </Confirm>
    </>
  );
  const actions = (
    <>
      <button type="button">Send test event</button>
      <details class="menu">
        <summary class="button">More</summary>
        <ul class="list end">
          <li>
            <a href="#change">Change</a>
          </li>
          <li>
            <a class="danger" href="#delete">
              Delete
            </a>
          </li>
        </ul>
      </details>
    </>
  );
  return { title: 'Erase Maya', body, actions };
}

function signInPage() {
  const body = (
    <form method="post" class="stack">
      <Field name="email" label="Email" type="email" autocomplete="username webauthn" required />
      <Field name="password" label="Password" type="password" autocomplete="current-password" />
      <button type="submit" class="primary">
        Sign in
      </button>
      <a class="button quiet" href="/forgot">
        Forgot password?
      </a>
    </form>
  );
  return { title: 'Sign in', body };
}

const names = ['Ann', 'Ben', 'Priya', 'Quentin'];

function live(search: string) {
  const found = names.filter((name) => name.toLowerCase().includes(search.toLowerCase()));
  const says = counted(found.length, 'person', 'people');
  const body = (
    <>
      <FilterForm path="/live" updates="found" hidden={[['kind', 'all']]}>
        <Field name="search" label="Search" type="search" value={search} size="wide" />
      </FilterForm>
      <Live id="found" says={says}>
        <p>{says}</p>
        <ul>
          {found.map((name) => (
            <li>
              {name} <Time at="2026-11-20T16:22:00Z" />
            </li>
          ))}
        </ul>
      </Live>
    </>
  );
  return { title: 'People', body };
}
