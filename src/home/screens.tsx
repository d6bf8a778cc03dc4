import { type Context, Hono } from 'hono';
import type { Db } from '../lib/db/db.ts';
import { PropertyFilters } from '../responses/property-filters.tsx';
import type { ScreenEnv } from '../sessions/session.ts';
import { statusOf } from '../web/app/forms.tsx';
import { renderScreen } from '../web/app/screen.tsx';
import { AttentionPart, FirstSteps } from './attention.tsx';
import { readChoice, SurveyChoice } from './choice.tsx';
import { listNewestComments, ofDays, readFigures } from './figures.ts';
import { AskedPart, CommentsPart, PeriodChoice } from './parts.tsx';
import { findAttention } from './queries.ts';
import { scopeQuery } from './rules.ts';
import { responsesOf, ScorePart, SegmentsPart } from './score.tsx';
import { readComparison } from './segments.ts';

type HomeScreenTools = { db: Db; mailbox: boolean };

/** Home: below `/o/:slug`. */
export const homeScreens = (tools: HomeScreenTools) =>
  new Hono<ScreenEnv>().get('/', async (c) =>
    renderScreen(c, { title: 'Home', section: 'home', ...(await readHome(tools, c)) }),
  );

async function readHome({ db, mailbox }: HomeScreenTools, c: Context<ScreenEnv>) {
  const { organization } = c.var;
  const { setting, scope, period, form, inPeriod } = await readChoice(db, c);
  if (!scope || setting.kinds.every(({ responses }) => responses === 0)) {
    const survey = setting.surveys[0];
    return { body: <FirstSteps {...{ organization, survey }} hasMailServer={!mailbox} /> };
  }

  const { compare } = c.req.query();
  const selection = { scope, period, timeZone: setting.time_zone };
  const [{ asked, ...score }, comments, counts, comparison] = await Promise.all([
    readFigures(db, organization.id, selection),
    listNewestComments(db, organization.id, ofDays(selection)),
    findAttention(db, organization.id),
    // Only on request, because finding the properties takes longer than everything else.
    compare === undefined
      ? null
      : readComparison(db, organization.id, { ...selection, by: compare || null }),
  ]);

  const path = `/o/${organization.slug}`;
  const inScope = scopeQuery(scope);
  const responses = { path: `${path}/responses`, scope: inScope, period };
  return {
    status: statusOf(form),
    actions: (
      <>
        <SurveyChoice {...{ path, setting, scope }} period={inPeriod} />
        <PeriodChoice {...{ path, period, form }} scope={inScope} />
      </>
    ),
    body: (
      <>
        <PropertyFilters
          path={path}
          query={new URLSearchParams({ ...inScope, ...inPeriod } as Record<string, string>)}
        />
        <ScorePart
          {...{ type: scope.type, period, timeZone: setting.time_zone, responses, ...score }}
        />
        <div class="grid main-side">
          <div>
            <AttentionPart {...{ counts, organization }} />
            {asked === null ? null : <AskedPart asked={asked} />}
          </div>
          <CommentsPart
            {...{ comments, organization, total: score.now.total }}
            all={responsesOf(responses)}
          />
        </div>
        <SegmentsPart {...{ path, scope, comparison, form }} period={inPeriod} />
      </>
    ),
  } as const;
}
