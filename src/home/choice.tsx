import type { Context } from 'hono';
import { notFound } from '../errors.ts';
import type { Db } from '../lib/db/db.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { localDay } from '../responses/period.ts';
import type { ScreenEnv } from '../sessions/session.ts';
import { getOrgSurvey } from '../surveys/queries.ts';
import { emptyForm } from '../web/app/forms.tsx';
import { Icon } from '../web/app/icon.tsx';
import { withQuery } from '../web/app/lists.tsx';
import { findHomeSetting, type HomeSetting } from './queries.ts';
import {
  chooseKind,
  choosePeriod,
  defaultPeriod,
  type HomeScope,
  kindScopes,
  lastDays,
  readProperties,
  scopeQuery,
} from './rules.ts';
import { kindName } from './score.tsx';

/** Reads the survey or kind, the period and the properties from the address of a screen. */
export async function readChoice(db: Db, c: Context<ScreenEnv>) {
  const { id, timeZone } = c.var.organization;
  const properties = readProperties(c.req.queries());
  const setting = await findHomeSetting(db, id);
  const scope = await chosenScope(db, c, { setting, properties });
  const { period: name, date_from = '', date_to = '' } = c.req.query();
  const today = localDay(new Date(), timeZone);
  const chosen = choosePeriod({ period: name, date_from, date_to }, today);
  const hasMistake = 'errors' in chosen;
  const period = hasMistake ? lastDays(defaultPeriod, today) : chosen;
  const form = hasMistake ? { typed: { date_from, date_to }, errors: chosen.errors } : emptyForm();
  const inPeriod: Record<string, string> =
    period.name === 'custom'
      ? { date_from: period.from, date_to: period.to }
      : { period: period.name };
  return { setting, scope, period, timeZone, form, inPeriod };
}

async function chosenScope(
  db: Db,
  c: Context<ScreenEnv>,
  { setting, properties }: { setting: HomeSetting; properties: HomeScope['properties'] },
): Promise<HomeScope | undefined> {
  const { survey_id, type, audience } = c.req.query();
  if (!survey_id) return chooseKind(kindScopes(setting, properties), { type, audience });
  if (!isUuid(survey_id)) throw notFound('survey');
  const survey = await getOrgSurvey(db, c.var.organization.id, survey_id);
  return { survey, type: survey.type, audience: null, properties };
}

type SurveyChoiceProps = {
  path: string;
  setting: HomeSetting;
  scope: HomeScope;
  period: Readonly<Record<string, string>>;
};

export function SurveyChoice({ path, setting, scope, period }: SurveyChoiceProps) {
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
        <Icon name="chevron-down" />
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
