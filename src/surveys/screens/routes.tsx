import { Hono } from 'hono';
import { renderSVG } from 'uqr';
import * as v from 'valibot';
import type { Db } from '../../lib/db/db.ts';
import { Page, parseList } from '../../lib/paging/page.ts';
import type { SendProgress } from '../../sends/send.ts';
import type { ScreenEnv } from '../../sessions/session.ts';
import { shareUrl } from '../lifecycle.ts';
import { pageOfSurveys } from '../queries.ts';
import { addForms } from './edit.tsx';
import { renderList } from './list.tsx';
import { surveyOf } from './parts.tsx';
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
    .get('/:id', async (c) => renderSurvey(c, db, await surveyOf(c, db)))

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
