import { type Context, Hono } from 'hono';
import { notFound } from '../errors.ts';
import { shareReads } from '../lib/async/shared-reads.ts';
import type { Db } from '../lib/db/db.ts';
import { linkRequests } from '../lib/http/request-spans.ts';
import { isUuid } from '../lib/validation/parse.ts';
import type { CurrentOrganization, ScreenEnv } from '../sessions/session.ts';
import { drawNow } from '../web/app/drawn-once.ts';
import type { FormState } from '../web/app/read-form.ts';
import { renderScreen, type Screen } from '../web/app/screen.tsx';
import { AttentionPart } from './attention.tsx';
import {
  chooseKind,
  type HomeScope,
  kindScopes,
  type ScopeQuery,
  scopeQuery,
} from './choice.rules.ts';
import { type HomeFigures, readHomeFigures } from './figures.ts';
import { FirstSteps } from './first-steps.tsx';
import { AskedPart, CommentsPart } from './parts.tsx';
import { type AskedPeriod, choosePeriod, type HomePeriod } from './period.rules.ts';
import { PeriodChoice } from './period-choice.tsx';
import { findHomeSetting, findMeasuredSurvey, type HomeSetting } from './queries.ts';
import { responsesOf, ScorePart } from './score-part.tsx';
import { SurveyChoice } from './survey-choice.tsx';

type HomeScreenTools = {
  db: Db;
  /** Whether mails stay here for want of a mail server. */
  mailbox: boolean;
};

/** All that Home depends on, but for what the frame shows: members of one role who look at the same share a read. */
type AskedHome = {
  organization: Pick<CurrentOrganization, 'id' | 'name' | 'slug' | 'color' | 'role'>;
  query: { [name in keyof ScopeQuery]: string | undefined } & AskedPeriod;
};

type DrawnHome = Pick<Screen, 'body' | 'actions' | 'status'>;

/** Home: below `/o/:slug`. */
export function homeScreens(tools: HomeScreenTools) {
  const draw = shareReads((asked: AskedHome) => drawHome(tools, asked), linkRequests);
  return new Hono<ScreenEnv>().get('/', async (c) => {
    const drawn = await draw(askedOf(c), c);
    return renderScreen(c, { title: 'Home', section: 'home', ...drawn });
  });
}

function askedOf(c: Context<ScreenEnv>): AskedHome {
  const { id, name, slug, color, role } = c.var.organization;
  const { survey_id, type, audience, period, date_from, date_to } = c.req.query();
  return {
    organization: { id, name, slug, color, role },
    query: { survey_id, type, audience, period, date_from, date_to },
  };
}

async function drawHome(tools: HomeScreenTools, asked: AskedHome): Promise<DrawnHome> {
  const { organization, query } = asked;
  const setting = await findHomeSetting(tools.db, organization.id);
  const scope = await chosenScope(tools, asked, setting);
  const hasResponses = setting.kinds.some(({ responses }) => responses > 0);
  if (!scope || !hasResponses) {
    const survey = setting.surveys[0];
    const body = <FirstSteps {...{ organization, survey }} hasMailServer={!tools.mailbox} />;
    return { body: drawNow(body) };
  }
  const { period, form } = chosenPeriod(query, setting);
  const path = `/o/${organization.slug}`;
  const choices = <Choices {...{ path, setting, scope, period, form }} />;
  const looked = { scope, period, timeZone: setting.time_zone };
  const figures = await readHomeFigures(tools.db, organization.id, looked);
  return {
    body: drawNow(<Figures {...{ organization, figures, ...looked }} />),
    actions: drawNow(choices),
    status: Object.keys(form.errors).length > 0 ? 422 : 200,
  };
}

async function chosenScope(
  { db }: HomeScreenTools,
  { organization, query }: AskedHome,
  setting: HomeSetting,
): Promise<HomeScope | undefined> {
  const { survey_id, type, audience } = query;
  if (!survey_id) return chooseKind(kindScopes(setting), { type, audience });
  const survey = isUuid(survey_id)
    ? await findMeasuredSurvey(db, organization.id, survey_id)
    : undefined;
  if (!survey) throw notFound('survey');
  return { survey, type: survey.type, audience: null };
}

/** A period that cannot be read leaves the usual one, and says what is wrong with it. */
function chosenPeriod(asked: AskedPeriod, { today }: HomeSetting) {
  const { date_from, date_to } = asked;
  const chosen = choosePeriod(asked, today);
  if (!('errors' in chosen)) return { period: chosen, form: { typed: {}, errors: {} } };
  const usual = choosePeriod({}, today) as HomePeriod;
  const typed = { date_from: date_from ?? '', date_to: date_to ?? '' };
  return { period: usual, form: { typed, errors: chosen.errors } };
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

const periodQuery = ({ name, from, to }: HomePeriod) =>
  name === 'custom' ? { date_from: from, date_to: to } : { period: name };

type FiguresProps = {
  organization: AskedHome['organization'];
  figures: HomeFigures;
  scope: HomeScope;
  period: HomePeriod;
  timeZone: string;
};

function Figures({ organization, figures, scope, period, timeZone }: FiguresProps) {
  const responses = {
    path: `/o/${organization.slug}/responses`,
    ...{ scope: scopeQuery(scope), period },
  };
  const { asked, comments, attention: found, ...score } = figures;
  return (
    <>
      <ScorePart {...{ type: scope.type, period, timeZone, responses, ...score }} />
      <div class="columns home part">
        <div>
          <AttentionPart {...{ found, organization }} />
          <AskedPart asked={asked} />
        </div>
        <CommentsPart
          {...{ comments, organization, total: score.now.total }}
          all={responsesOf(responses)}
        />
      </div>
    </>
  );
}
