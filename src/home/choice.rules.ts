import type { SurveyType } from '../scores.ts';
import type { AskedProperties } from './property.rules.ts';
import type { HomeSetting, MeasuredSurvey } from './queries.ts';

/** What Home looks at: one survey, or all of a kind; and of these what has certain properties. */
export type HomeScope = {
  survey: MeasuredSurvey | null;
  type: SurveyType;
  audience: 'employee' | 'customer' | null;
  properties: AskedProperties;
};

/** The same by the names of the API, for links and filters. */
export type ScopeQuery = {
  survey_id?: string;
  type?: SurveyType;
  audience?: string;
} & AskedProperties;

export const scopeQuery = ({ survey, type, audience, properties }: HomeScope): ScopeQuery =>
  survey
    ? { survey_id: survey.id, ...properties }
    : { type, ...(audience && { audience }), ...properties };

/** The kinds of surveys to choose from. Where employees and customers are asked alike, they are apart. */
export function kindScopes(
  { kinds }: Pick<HomeSetting, 'kinds'>,
  properties: AskedProperties = {},
): HomeScope[] {
  return kinds.map(({ type, audience }) => ({
    survey: null,
    type,
    audience: kinds.filter((kind) => kind.type === type).length > 1 ? audience : null,
    properties,
  }));
}

type Asked = { type?: string | undefined; audience?: string | undefined };

/** The kind that was asked for, else the one with the most responses. */
export function chooseKind(scopes: readonly HomeScope[], asked: Asked): HomeScope | undefined {
  const ofType = scopes.filter(({ type }) => type === asked.type);
  return (
    ofType.find(({ audience }) => audience === (asked.audience ?? audience)) ??
    ofType[0] ??
    scopes[0]
  );
}
