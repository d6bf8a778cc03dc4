import { Hono } from 'hono';
import { renderSVG } from 'uqr';
import * as v from 'valibot';
import { periodDays, periodIn } from '../../home/rules.ts';
import { surveyTrend } from '../../home/score.tsx';
import type { Db } from '../../lib/db/db.ts';
import { Page, parseList } from '../../lib/paging/page.ts';
import { readResults } from '../../questions/results.ts';
import type { SendProgress } from '../../sends/send.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { shareUrl } from '../lifecycle.ts';
import { countReached, countScores, pageOfSurveys } from '../queries.ts';
import { addForms } from './edit.tsx';
import { renderList } from './list.tsx';
import { surveyOf } from './parts.tsx';
import { readRounds } from './rounds.tsx';
import { renderShare } from './share.tsx';
import { addActions, renderSurvey } from './survey.tsx';

const maxSearchLength = 500;

const SurveySearch = v.object({
  ...Page.entries,
  search: v.optional(
    v.pipe(
      v.string(),
      v.trim(),
      v.maxLength(maxSearchLength, `must be at most ${maxSearchLength} characters`),
      v.check((text) => !text.includes('\u0000'), 'must not contain NUL'),
    ),
    '',
  ),
  status: v.optional(v.picklist(['active', 'draft', 'completed'])),
});

type SurveyScreenTools = {
  db: Db;
  progress: Pick<SendProgress, 'watch'>;
  publicUrl: string;
};

export function surveyScreens(tools: SurveyScreenTools) {
  const { db, publicUrl } = tools;
  const app = new Hono<ScreenEnv>().get('/', async (c) => {
    const list = parseList(SurveySearch, c.req.queries());
    return renderList(c, { ...list, ...(await pageOfSurveys(db, c.var.organization.id, list)) });
  });
  addForms(app, tools);
  addActions(app, tools);
  return app
    .get('/:id', async (c) => {
      const survey = await surveyOf(c, db);
      const { org_id: orgId, id: surveyId } = survey;
      const period = periodIn(c.req.query('period'));
      const since = period && new Date(Date.now() - periodDays[period] * 86_400_000);
      const scores = await countScores(db, orgId, { surveyId, since });
      const firstAt = new Date(Math.min(...scores.map(({ first_at }) => first_at.getTime())));
      const [reached, trend, questions, rounds] = await Promise.all([
        countReached(db, orgId, surveyId),
        scores.length === 0
          ? null
          : surveyTrend(db, { organization: c.var.organization, survey, period, firstAt }),
        survey.questions.length === 0 ? [] : readResults(db, orgId, surveyId, since),
        readRounds(db, { orgId, surveyId }),
      ]);
      return renderSurvey(c, { survey, scores, reached, trend, period, questions, rounds });
    })

    .get('/:id/share', async (c) => renderShare(c, await surveyOf(c, db), publicUrl))

    .get('/:id/share/qr.svg', async (c) => {
      const survey = await surveyOf(c, db);
      const svg = renderSVG(shareUrl(publicUrl, survey) ?? '', { ecc: 'M', border: 4 });
      const disposition = c.req.query('download') ? 'attachment; filename="qr-code.svg"' : 'inline';
      return c.body(svg, 200, {
        'Content-Type': 'image/svg+xml',
        'Content-Disposition': disposition,
        'Content-Security-Policy': "default-src 'none'",
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'private, max-age=3600',
      });
    });
}
