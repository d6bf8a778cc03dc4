import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import type { Db } from '../../lib/db/db.ts';
import { likePattern } from '../../lib/db/like-pattern.ts';
import { Page, parseList } from '../../lib/paging/page.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { liftSuppression, suppressByHand } from '../../suppressions/unsubscribe.ts';
import { flash } from '../../web/app/flash.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import type { EraseTools } from '../erasure/erase.ts';
import { countPeople, listPeople } from '../queries.ts';
import { listAnswersOf } from '../timeline.queries.ts';
import { timelineOf } from '../timeline.ts';
import { addErasing } from './erase-routes.tsx';
import { PeopleList } from './list.tsx';
import { PersonScreen } from './person.tsx';
import { getPerson, peoplePath } from './person-of.ts';

const rowsOnPage = '50';
const PeopleQuery = v.object({
  ...Page.entries,
  search: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(254, 'is too long')), ''),
});

/** People: below `/o/:slug/people`. */
export function peopleScreens(tools: EraseTools) {
  const app = new Hono<ScreenEnv>().get('/', (c) => showPeople(c, tools.db));
  return addErasing(app, tools)
    .get('/:id', (c) => showPerson(c, tools.db))

    .post('/:id/suppress', async (c) => {
      const editor = requireRole(c, 'editor');
      const { email } = await getPerson(c, tools.db);
      await suppressByHand(tools, editor, email);
      return back(c, 'The address is suppressed: no survey is mailed to it.');
    })

    .post('/:id/allow', async (c) => {
      const editor = requireRole(c, 'editor');
      const { suppressions } = await getPerson(c, tools.db);
      for (const { id } of suppressions) await liftSuppression(tools, editor, id);
      return back(c, 'The address is allowed again. Other rules that block mail stay in force.');
    });
}

async function showPeople(c: Context<ScreenEnv>, db: Db) {
  const { id: orgId } = c.var.organization;
  const { page, limit, search } = parseList(PeopleQuery, {
    limit: [rowsOnPage],
    ...c.req.queries(),
  });
  const pattern = search === '' ? null : likePattern(search);
  const [people, total] = await Promise.all([
    listPeople(db, orgId, { pattern, page, limit }),
    countPeople(db, orgId, pattern),
  ]);
  const path = peoplePath(c);
  const body = <PeopleList {...{ path, search, people, meta: { page, limit, total } }} />;
  const actions =
    c.var.organization.role === 'owner' ? <a href={`${path}/erased`}>Erased people</a> : null;
  return renderScreen(c, { title: 'People', section: 'people', body, actions });
}

async function showPerson(c: Context<ScreenEnv>, db: Db) {
  const { id: orgId, slug, role } = c.var.organization;
  const person = await getPerson(c, db);
  const [timeline, answers] = await Promise.all([
    timelineOf(db, orgId, person.email),
    listAnswersOf(db, orgId, person.email),
  ]);
  const here = `${peoplePath(c)}/${c.req.param('id')}`;
  const may = { change: role !== 'viewer', erase: role === 'owner' };
  return renderScreen(c, {
    title: person.email,
    heading: <bdi>{person.email}</bdi>,
    section: 'people',
    trail: [{ text: 'People', href: peoplePath(c) }],
    body: (
      <PersonScreen
        {...{ person, here, home: `/o/${slug}`, may }}
        timeline={timeline.reverse()}
        answers={new Map(answers.map((answer) => [answer.id, answer]))}
      />
    ),
  });
}

function back(c: Context<ScreenEnv>, text: string) {
  flash(c, { kind: 'fine', text });
  return c.redirect(`${peoplePath(c)}/${c.req.param('id')}`, 303);
}
