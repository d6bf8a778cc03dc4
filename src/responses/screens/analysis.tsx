import type { Child } from 'hono/jsx';
import { Facts } from '../../web/app/lists.tsx';
import { State } from '../../web/app/marks.tsx';
import type { ResponseOrigin } from './shown.queries.ts';
import { capital, type DetailProps } from './shown.ts';

/** What was made of the comment, or why nothing was. */
export function Analysis({ response, origin }: Pick<DetailProps, 'response' | 'origin'>) {
  const { ai_sentiment: sentiment, ai_themes: themes, ai_churn_risk: risk } = response;
  return (
    <div>
      <h3>Analysis</h3>
      {origin.provider === null ? (
        <p class="soft">{whyUnread(response, origin)}</p>
      ) : (
        <>
          {response.ai_summary ? <p dir="auto">{response.ai_summary}</p> : null}
          <Facts
            facts={[
              ['Sentiment', capital(sentiment ?? 'unknown')],
              ['Themes', themes.length > 0 ? themes.join(', ') : 'none'],
              ['Churn risk', riskMark(risk)],
            ]}
          />
          <p class="small soft">
            {origin.provider === 'built-in'
              ? 'Read by the built-in analyst, which can be wrong.'
              : `Read by ${origin.provider}, which can be wrong.`}
          </p>
        </>
      )}
    </div>
  );
}

function whyUnread({ comment }: { comment: string | null }, { analyzed }: ResponseOrigin): string {
  if (!comment) return 'There is no comment to read.';
  return analyzed
    ? 'Its comment has not been read yet.'
    : 'Analysis is off for this organization. An owner can switch it on in the settings.';
}

function riskMark(risk: string | null): Child {
  if (risk === null) return 'Unknown';
  return risk === 'high' ? <State kind="warning">High</State> : capital(risk);
}
