import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import { notFound } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { isUuid } from '../lib/validation/parse.ts';
import type { ScreenEnv } from '../sessions/session.ts';
import type { FormState } from '../web/app/read-form.ts';
import { renderScreen } from '../web/app/screen.tsx';
import { AttentionPart } from './attention.tsx';
import { chooseKind, type HomeScope, kindScopes, scopeQuery } from './choice.rules.ts';
import { readFigures } from './figures.ts';
import { FirstSteps } from './first-steps.tsx';
import { AskedPart, CommentsPart } from './parts.tsx';
import { type AskedPeriod, choosePeriod, type HomePeriod } from './period.rules.ts';
import { PeriodChoice } from './period-choice.tsx';
import { findAttention, findHomeSetting, findMeasuredSurvey, type HomeSetting } from './queries.ts';
import { responsesOf, ScorePart } from './score-part.tsx';
import { SurveyChoice } from './survey-choice.tsx';

type HomeScreenTools = {
  db: Db;
  /** Whether mails stay here for want of a mail server. */
  mailbox: boolean;
};

/** Home: below `/o/:slug`. */
export const homeScreens = (tools: HomeScreenTools) =>
  new Hono<ScreenEnv>().get('/', (c) => showHome(c, tools));

async function showHome(c: Context<ScreenEnv>, tools: HomeScreenTools) {
  const { db } = tools;
  const { organization } = c.var;
  const setting = await findHomeSetting(db, organization.id);
  const scope = await chosenScope(c, tools, setting);
  const hasResponses = setting.kinds.some(({ responses }) => responses > 0);
  if (!scope || !hasResponses) {
    const survey = setting.surveys[0];
    const body = <FirstSteps {...{ organization, survey }} hasMailServer={!tools.mailbox} />;
    return renderScreen(c, { title: 'Home', section: 'home', body });
  }
  const { period, form } = chosenPeriod(c, setting);
  const choices = <Choices {...{ c, setting, scope, period, form }} />;
  const body = await homeBody(c, tools, { scope, period, timeZone: setting.time_zone });
  const status = Object.keys(form.errors).length > 0 ? 422 : 200;
  return renderScreen(c, { title: 'Home', section: 'home', body, actions: choices, status });
}

async function chosenScope(
  c: Context<ScreenEnv>,
  { db }: HomeScreenTools,
  setting: HomeSetting,
): Promise<HomeScope | undefined> {
  const { survey_id, type, audience } = c.req.query();
  if (!survey_id) return chooseKind(kindScopes(setting), { type, audience });
  const orgId = c.var.organization.id;
  const survey = isUuid(survey_id) ? await findMeasuredSurvey(db, orgId, survey_id) : undefined;
  if (!survey) throw notFound('survey');
  return { survey, type: survey.type, audience: null };
}

/** A period that cannot be read leaves the usual one, and says what is wrong with it. */
function chosenPeriod(c: Context<ScreenEnv>, { today }: HomeSetting) {
  const { period, date_from, date_to } = c.req.query();
  const asked: AskedPeriod = { period, date_from, date_to };
  const chosen = choosePeriod(asked, today);
  if (!('errors' in chosen)) return { period: chosen, form: { typed: {}, errors: {} } };
  const usual = choosePeriod({}, today) as HomePeriod;
  const typed = { date_from: date_from ?? '', date_to: date_to ?? '' };
  return { period: usual, form: { typed, errors: chosen.errors } };
}

type ChoicesProps = {
  c: Context<ScreenEnv>;
  setting: HomeSetting;
  scope: HomeScope;
  period: HomePeriod;
  form: FormState;
};

function Choices({ c, setting, scope, period, form }: ChoicesProps) {
  const path = `/o/${c.var.organization.slug}`;
  return (
    <>
      <SurveyChoice {...{ path, setting, scope }} period={periodQuery(period)} />
      <PeriodChoice {...{ path, period, form }} scope={scopeQuery(scope)} />
    </>
  );
}

const periodQuery = ({ name, from, to }: HomePeriod) =>
  name === 'custom' ? { date_from: from, date_to: to } : { period: name };

type Looked = { scope: HomeScope; period: HomePeriod; timeZone: string };

async function homeBody(
  c: Context<ScreenEnv>,
  { db }: HomeScreenTools,
  looked: Looked,
): Promise<Child> {
  const { organization } = c.var;
  const { scope, period, timeZone } = looked;
  const [figures, found] = await Promise.all([
    readFigures(db, organization.id, looked),
    findAttention(db, organization.id),
  ]);
  const responses = {
    path: `/o/${organization.slug}/responses`,
    ...{ scope: scopeQuery(scope), period },
  };
  const { asked, comments, ...score } = figures;
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
