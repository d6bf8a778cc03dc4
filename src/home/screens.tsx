import { type Context, Hono } from 'hono';
import { notFound } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { PropertyFilters } from '../responses/property-filters.tsx';
import type { ScreenEnv } from '../sessions/session.ts';
import { type FormState, statusOf } from '../web/app/forms.tsx';
import { renderScreen } from '../web/app/screen.tsx';
import { AttentionPart, FirstSteps } from './attention.tsx';
import { listNewestComments, ofDays, readFigures } from './figures.ts';
import { AskedPart, CommentsPart, PeriodChoice, withQuery } from './parts.tsx';
import { findAttention, findHomeSetting, findMeasuredSurvey, type HomeSetting } from './queries.ts';
import {
  chooseKind,
  choosePeriod,
  type HomePeriod,
  type HomeScope,
  kindScopes,
  readProperties,
  scopeQuery,
} from './rules.ts';
import { kindName, responsesOf, ScorePart, SegmentsPart } from './score.tsx';
import { readComparison } from './segments.ts';

type HomeScreenTools = { db: Db; mailbox: boolean };

/** Home: below `/o/:slug`. */
export const homeScreens = (tools: HomeScreenTools) =>
  new Hono<ScreenEnv>().get('/', async (c) =>
    renderScreen(c, { title: 'Home', section: 'home', ...(await readHome(tools, c)) }),
  );

async function readHome({ db, mailbox }: HomeScreenTools, c: Context<ScreenEnv>) {
  const { organization } = c.var;
  const { properties, ...typed } = readProperties(c.req.queries());
  const setting = await findHomeSetting(db, organization.id);
  const scope = await chosenScope(db, c, { setting, properties });
  if (!scope || setting.kinds.every(({ responses }) => responses === 0)) {
    const survey = setting.surveys[0];
    return { body: <FirstSteps {...{ organization, survey }} hasMailServer={!mailbox} /> };
  }

  const { period: name, date_from = '', date_to = '', compare } = c.req.query();
  const chosen = choosePeriod({ period: name, date_from, date_to }, setting.today);
  const isPeriod = !('errors' in chosen);
  const period = isPeriod ? chosen : (choosePeriod({}, setting.today) as HomePeriod);
  const form: FormState = isPeriod
    ? typed
    : {
        typed: { ...typed.typed, date_from, date_to },
        errors: { ...chosen.errors, ...typed.errors },
      };

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
  const inPeriod: Record<string, string> =
    period.name === 'custom'
      ? { date_from: period.from, date_to: period.to }
      : { period: period.name };
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
        <div class="columns home part">
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

async function chosenScope(
  db: Db,
  c: Context<ScreenEnv>,
  { setting, properties }: { setting: HomeSetting; properties: HomeScope['properties'] },
): Promise<HomeScope | undefined> {
  const { survey_id, type, audience } = c.req.query();
  if (!survey_id) return chooseKind(kindScopes(setting, properties), { type, audience });
  const survey = isUuid(survey_id)
    ? await findMeasuredSurvey(db, c.var.organization.id, survey_id)
    : undefined;
  if (!survey) throw notFound('survey');
  return { survey, type: survey.type, audience: null, properties };
}

type SurveyChoiceProps = {
  path: string;
  setting: HomeSetting;
  scope: HomeScope;
  period: Readonly<Record<string, string>>;
};

function SurveyChoice({ path, setting, scope, period }: SurveyChoiceProps) {
  const { properties } = scope;
  const surveys = setting.surveys.map((survey) => ({
    survey,
    type: survey.type,
    audience: null,
    properties,
  }));
  return (
    <details class="menu">
      <summary class="button">
        <bdi>{scopeName(scope)}</bdi>
        <span class="hidden">, change survey</span>
      </summary>
      <ul class="list">
        {[...kindScopes(setting, properties), ...surveys].map((each) => (
          <li>
            <a
              href={withQuery(path, { ...scopeQuery(each), ...period })}
              aria-current={isSameScope(each, scope) ? 'true' : undefined}
            >
              <bdi>{scopeName(each)}</bdi>
            </a>
          </li>
        ))}
        {setting.survey_count > setting.surveys.length ? (
          <li>
            <a href={`${path}/surveys`}>All {setting.survey_count} surveys</a>
          </li>
        ) : null}
      </ul>
    </details>
  );
}

const scopeName = ({ survey, type, audience }: HomeScope) =>
  survey ? survey.name : kindName(type, audience);

const isSameScope = (one: HomeScope, other: HomeScope) =>
  one.survey?.id === other.survey?.id && one.type === other.type && one.audience === other.audience;
