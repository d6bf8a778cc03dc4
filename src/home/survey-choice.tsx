import { type HomeScope, kindScopes, scopeQuery } from './choice.rules.ts';
import { withQuery } from './period-choice.tsx';
import type { HomeSetting } from './queries.ts';
import { kindOf } from './score-part.tsx';

type SurveyChoiceProps = {
  path: string;
  setting: HomeSetting;
  scope: HomeScope;
  /** The period that is chosen, which stays. */
  period: Readonly<Record<string, string>>;
};

/** What the number is of: all surveys of a kind, or one. */
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
