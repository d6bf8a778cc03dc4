import { type Context, Hono } from 'hono';
import { notFound } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { PropertyFilters } from '../responses/property-filters.tsx';
import type { CurrentOrganization, ScreenEnv } from '../sessions/session.ts';
import type { FormState } from '../web/app/forms.tsx';
import { renderScreen, type Screen } from '../web/app/screen.tsx';
import { AttentionPart, FirstSteps } from './attention.tsx';
import { type HomeFigures, readHomeFigures } from './figures.ts';
import { AskedPart, CommentsPart, PeriodChoice, withQuery } from './parts.tsx';
import { findHomeSetting, findMeasuredSurvey, type HomeSetting } from './queries.ts';
import {
  type AskedPeriod,
  chooseKind,
  choosePeriod,
  type HomePeriod,
  type HomeScope,
  kindScopes,
  readProperties,
  scopeQuery,
} from './rules.ts';
import { kindOf, responsesOf, ScorePart, SegmentsPart } from './score.tsx';
import { type Comparison, readComparison } from './segments.ts';

type HomeScreenTools = {
  db: Db;
  mailbox: boolean;
};

type AskedHome = {
  organization: Pick<CurrentOrganization, 'id' | 'name' | 'slug' | 'color' | 'role'>;
  query: AskedScope & AskedPeriod & { compare: string | undefined };
  properties: ReturnType<typeof readProperties>;
};

type AskedScope = Record<'survey_id' | 'type' | 'audience', string | undefined>;

type HomeContent = Pick<Screen, 'body' | 'actions' | 'status'>;

/** Home: below `/o/:slug`. */
export function homeScreens(tools: HomeScreenTools) {
  return new Hono<ScreenEnv>().get('/', async (c) => {
    const content = await readHome(tools, askedOf(c));
    return renderScreen(c, { title: 'Home', section: 'home', ...content });
  });
}

function askedOf(c: Context<ScreenEnv>): AskedHome {
  const { id, name, slug, color, role } = c.var.organization;
  const { survey_id, type, audience, period, date_from, date_to, compare } = c.req.query();
  return {
    organization: { id, name, slug, color, role },
    query: { survey_id, type, audience, period, date_from, date_to, compare },
    properties: readProperties(c.req.queries()),
  };
}

async function readHome(tools: HomeScreenTools, asked: AskedHome): Promise<HomeContent> {
  const { organization, query } = asked;
  const setting = await findHomeSetting(tools.db, organization.id);
  const scope = await chosenScope(tools, asked, setting);
  const hasResponses = setting.kinds.some(({ responses }) => responses > 0);
  if (!scope || !hasResponses) {
    const survey = setting.surveys[0];
    return {
      body: (
        <FirstSteps organization={organization} survey={survey} hasMailServer={!tools.mailbox} />
      ),
    };
  }
  const { period, form } = chosenPeriod(asked, setting);
  const path = `/o/${organization.slug}`;
  const looked = { scope, period, timeZone: setting.time_zone };
  const [figures, comparison] = await Promise.all([
    readHomeFigures(tools.db, organization.id, looked),
    query.compare === undefined
      ? null
      : readComparison(tools.db, organization.id, { ...looked, by: query.compare || null }),
  ]);
  return {
    body: (
      <Figures
        organization={organization}
        figures={figures}
        comparison={comparison}
        form={form}
        {...looked}
      />
    ),
    actions: <Choices path={path} setting={setting} scope={scope} period={period} form={form} />,
    status: Object.keys(form.errors).length > 0 ? 422 : 200,
  };
}

async function chosenScope(
  { db }: HomeScreenTools,
  { organization, query, properties: { properties } }: AskedHome,
  setting: HomeSetting,
): Promise<HomeScope | undefined> {
  const { survey_id, type, audience } = query;
  if (!survey_id) return chooseKind(kindScopes(setting, properties), { type, audience });
  const survey = isUuid(survey_id)
    ? await findMeasuredSurvey(db, organization.id, survey_id)
    : undefined;
  if (!survey) throw notFound('survey');
  return { survey, type: survey.type, audience: null, properties };
}

function chosenPeriod({ query, properties: { typed, errors } }: AskedHome, { today }: HomeSetting) {
  const { date_from, date_to } = query;
  const chosen = choosePeriod(query, today);
  if (!('errors' in chosen)) return { period: chosen, form: { typed, errors } };
  const usual = choosePeriod({}, today) as HomePeriod;
  const typedDays = { date_from: date_from ?? '', date_to: date_to ?? '' };
  const mistakes = { ...chosen.errors, ...errors };
  return { period: usual, form: { typed: { ...typed, ...typedDays }, errors: mistakes } };
}

type ChoicesProps = {
  path: string;
  setting: HomeSetting;
  scope: HomeScope;
  period: HomePeriod;
  form: FormState;
};

const Choices = ({ path, setting, scope, period, form }: ChoicesProps) => (
  <>
    <SurveyChoice {...{ path, setting, scope }} period={periodQuery(period)} />
    <PeriodChoice {...{ path, period, form }} scope={scopeQuery(scope)} />
  </>
);

const periodQuery = ({ name, from, to }: HomePeriod): Record<string, string> =>
  name === 'custom' ? { date_from: from, date_to: to } : { period: name };

type FiguresProps = {
  organization: AskedHome['organization'];
  figures: HomeFigures;
  /** Null before it is asked for: to find the properties takes longer than all else. */
  comparison: Comparison | null;
  scope: HomeScope;
  period: HomePeriod;
  timeZone: string;
  form: FormState;
};

function Figures(props: FiguresProps) {
  const { organization, figures, comparison, scope, period, timeZone, form } = props;
  const path = `/o/${organization.slug}`;
  const responses = { path: `${path}/responses`, scope: scopeQuery(scope), period };
  const stays = periodQuery(period);
  const { asked, comments, attention: found, ...score } = figures;
  return (
    <>
      <PropertyFilters
        path={path}
        query={new URLSearchParams({ ...scopeQuery(scope), ...stays } as Record<string, string>)}
      />
      <ScorePart {...{ type: scope.type, period, timeZone, responses, ...score }} />
      <div class="columns home part">
        <div>
          <AttentionPart {...{ found, organization }} />
          {asked === null ? null : <AskedPart asked={asked} />}
        </div>
        <CommentsPart
          {...{ comments, organization, total: score.now.total }}
          all={responsesOf(responses)}
        />
      </div>
      <SegmentsPart {...{ path, scope, comparison, form }} period={stays} />
    </>
  );
}

type SurveyChoiceProps = {
  path: string;
  setting: HomeSetting;
  scope: HomeScope;
  period: Readonly<Record<string, string>>;
};

/** Chooses all surveys of a kind, or one. */
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
        <bdi>{nameOf(scope)}</bdi>
        <span class="hidden">, change survey</span>
      </summary>
      <ul class="list">
        {[...kindScopes(setting, properties), ...surveys].map((each) => (
          <li>
            <a
              href={withQuery(path, { ...scopeQuery(each), ...period })}
              aria-current={isSame(each, scope) ? 'true' : undefined}
            >
              <bdi>{nameOf(each)}</bdi>
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

const nameOf = ({ survey, type, audience }: HomeScope) =>
  survey ? survey.name : kindOf(type, audience);

const isSame = (one: HomeScope, other: HomeScope) =>
  one.survey?.id === other.survey?.id && one.type === other.type && one.audience === other.audience;
