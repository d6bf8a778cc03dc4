import { type Context, Hono } from 'hono';
import type { Db } from '../lib/db/db.ts';
import { PropertyFilters } from '../responses/property-filters.tsx';
import type { ScreenEnv } from '../sessions/session.ts';
import { readThemes } from '../summaries/theme-figures.ts';
import { renderScreen } from '../web/app/screen.tsx';
import { AttentionPart } from './attention.tsx';
import { readChoice, SurveyChoice } from './choice.tsx';
import { readComparison } from './comparison.ts';
import { listNewestComments, ofDays, readFigures } from './figures.ts';
import { FirstSteps } from './first-steps.tsx';
import { CommentsPart, PeriodChoice } from './parts.tsx';
import { findAttention } from './queries.ts';
import { type Reasons, ReasonsPart, reasonsId } from './reasons.tsx';
import { scopeQuery } from './rules.ts';
import { AskedPart, responsesOf, ScorePart } from './score.tsx';

type HomeScreenTools = { db: Db; mailbox: boolean };

/** Home: below `/o/:slug`. */
export const homeScreens = (tools: HomeScreenTools) =>
  new Hono<ScreenEnv>().get('/', async (c) =>
    renderScreen(c, { title: 'Home', section: 'home', ...(await readHome(tools, c)) }),
  );

async function readHome({ db, mailbox }: HomeScreenTools, c: Context<ScreenEnv>) {
  const { organization } = c.var;
  const { setting, scope, period, timeZone, form, inPeriod } = await readChoice(db, c);
  if (!scope || setting.kinds.every(({ responses }) => responses === 0)) {
    const survey = setting.surveys[0];
    return {
      body: <FirstSteps organization={organization} survey={survey} hasMailServer={!mailbox} />,
    };
  }

  const { compare } = c.req.query();
  const selection = { scope, period, timeZone };
  const path = `/o/${organization.slug}`;
  const inScope = scopeQuery(scope);
  const readReasons = async (): Promise<Reasons> => {
    const [themes, comparison] = await Promise.all([
      readThemes(db, organization.id, { ...selection, theme: null }),
      readComparison(db, organization.id, { ...selection, by: compare || null }),
    ]);
    return { themes, comparison };
  };
  const reasonsIn = { path, scope, period: inPeriod };
  if (c.req.header('HX-Target')?.endsWith(`#${reasonsId}`)) {
    return { body: <ReasonsPart {...reasonsIn} reasons={await readReasons()} /> };
  }
  const [{ asked, ...score }, comments, counts, reasons] = await Promise.all([
    readFigures(db, organization.id, selection),
    listNewestComments(db, organization.id, ofDays(selection)),
    findAttention(db, organization.id),
    compare === undefined ? null : readReasons(),
  ]);
  const responses = { path: `${path}/responses`, scope: inScope, period };
  const besideComments = (
    <>
      <AttentionPart counts={counts} organization={organization} />
      {asked === null ? null : <AskedPart asked={asked} period={period} />}
    </>
  );
  return {
    form,
    actions: (
      <>
        <SurveyChoice path={path} setting={setting} scope={scope} period={inPeriod} />
        <PeriodChoice path={path} period={period} form={form} scope={inScope} />
      </>
    ),
    body: (
      <>
        <PropertyFilters
          path={path}
          query={new URLSearchParams({ ...inScope, ...inPeriod } as Record<string, string>)}
        />
        <ScorePart
          type={scope.type}
          period={period}
          timeZone={timeZone}
          responses={responses}
          {...score}
        />
        <div class={`grid level ${comments.length > 0 ? 'main-side' : asked ? 'three' : 'half'}`}>
          <CommentsPart
            comments={comments}
            organization={organization}
            total={score.now.total}
            all={responsesOf(responses)}
          />
          {comments.length > 0 ? <div class="stack">{besideComments}</div> : besideComments}
        </div>
        <ReasonsPart {...reasonsIn} reasons={reasons} />
      </>
    ),
  } as const;
}
