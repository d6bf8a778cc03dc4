import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import { type Db, one, type Sql } from '../lib/db/db.ts';
import { parsePage } from '../lib/paging/page.ts';
import { idParam } from '../lib/validation/parse.ts';
import { ResponseRow } from '../responses/response-row.tsx';
import type { ScreenEnv } from '../sessions/session.ts';
import type { Category } from '../survey-types.ts';
import { getOrgSurvey } from '../surveys/queries.ts';
import { anyPerson, fillIn } from '../surveys/texts.ts';
import { counted, EmptyState, PagedList } from '../web/app/lists.tsx';
import { renderScreen } from '../web/app/screen.tsx';

/** Text answers to a question, below `/o/:slug/surveys/:id/questions/:question`. */
export const questionScreens = ({ db }: { db: Db }) =>
  new Hono<ScreenEnv>().get('/:id/questions/:question', async (c) => {
    const { slug, id: orgId } = c.var.organization;
    const survey = await getOrgSurvey(db, orgId, idParam(c, 'survey'));
    const question = survey.questions.find(({ id }) => id === c.req.param('question'));
    if (!question) throw notFound('question');
    const { page, limit } = parsePage(c.req.queries());
    const kind = question.kind === 'text' ? 'answered' : 'other';
    const { texts, total } = await listTexts(db, orgId, { id: question.id, kind, page, limit });
    const title = fillIn(question.text, anyPerson);
    const [list, here] = [`/o/${slug}/surveys`, `/o/${slug}/surveys/${survey.id}`];
    return renderScreen(c, {
      title,
      heading: <bdi>{title}</bdi>,
      section: 'surveys',
      trail: [
        { text: 'Surveys', href: list },
        { text: survey.name, href: here },
      ],
      body: (
        <>
          <h2>{counted(total, 'answer')}</h2>
          <PagedList
            meta={{ page, limit, total }}
            at={(number) => `${here}/questions/${question.id}?page=${number}`}
            empty={
              <EmptyState title="No answers yet">
                <p>What people write appears here, newest first.</p>
              </EmptyState>
            }
          >
            <ul class="rows">
              {texts.map((answer) => (
                <li>
                  <ResponseRow
                    response={{ ...answer, type: survey.type }}
                    href={`/o/${slug}/responses/${answer.id}`}
                    title={answer.person ?? 'Anonymous'}
                    person={answer.person}
                    isWhole
                  />
                </li>
              ))}
            </ul>
          </PagedList>
        </>
      ),
    });
  });

type TextRow = {
  id: string;
  score: number;
  category: Category;
  comment: string;
  created_at: Date;
  person: string | null;
};

type TextsWanted = { id: string; kind: 'answered' | 'other'; page: number; limit: number };

/** Newest first, by the index of the facet. */
async function listTexts(sql: Sql, orgId: string, { id, kind, page, limit }: TextsWanted) {
  const facet = sql`facet_of(${kind}::text, ${id}::text, '')`;
  const [texts, { total }] = await Promise.all([
    sql<TextRow[]>`
      select r.id, r.score, r.category, r.created_at,
             coalesce(a.answers -> ${id} ->> 'text', a.answers -> ${id} ->> 'other') as comment,
             coalesce(c.name, c.email) as person
      from (
        select response_id, created_at
        from response_facets
        where org_id = ${orgId} and facet = ${facet}
        order by created_at desc, response_id desc
        limit ${limit} offset ${(page - 1) * limit}
      ) f
      join responses r on r.org_id = ${orgId} and r.id = f.response_id
      join response_answers a on a.org_id = ${orgId} and a.response_id = f.response_id
      left join contacts c on c.org_id = ${orgId} and c.survey_id = r.survey_id and c.id = r.contact_id
      order by f.created_at desc, f.response_id desc`,
    sql<{ total: number }[]>`
      select count(*)::int as total
      from response_facets
      where org_id = ${orgId} and facet = ${facet}`.then(one),
  ]);
  return { texts, total };
}
