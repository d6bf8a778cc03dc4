import type { Context } from 'hono';
import { Hono } from 'hono';
import { recordExport } from '../../audit/export.ts';
import { notFound, Refusal } from '../../errors.ts';
import { exportResponse } from '../../lib/export/export.ts';
import { isOutdated } from '../../lib/http/version.ts';
import { parseList } from '../../lib/paging/page.ts';
import { idParam } from '../../lib/validation/parse.ts';
import { listSegments } from '../../people/segments.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { getOrgSurvey } from '../../surveys/queries.ts';
import { redirectWith } from '../../web/app/flash.ts';
import { emptyForm, readForm, readVersion, withFieldError } from '../../web/app/forms.tsx';
import type { AdvanceTools } from '../advance.ts';
import { ResultsQuery } from '../api.ts';
import {
  createCampaign,
  exportJudgement,
  pauseCampaign,
  resumeCampaign,
  stopCampaign,
} from '../campaign.ts';
import { findCampaign, findRun } from '../queries.ts';
import { exportResults } from '../results.ts';
import { audienceOf, filterOf, segmentDeleted } from './audience.tsx';
import { showCampaign, showStop } from './campaign.tsx';
import { readStart, SendFormFields, showSend } from './send.tsx';

export const campaignScreens = (tools: AdvanceTools) => {
  const act = async (c: Context<ScreenEnv>, control: typeof pauseCampaign, text: string) => {
    await control(tools, requireRole(c, 'editor'), idParam(c, 'campaign', 'campaign'));
    return redirectWith(c, c.req.path.replace(/\/[a-z]+$/, ''), text);
  };
  return new Hono<ScreenEnv>()
    .get('/:id/send', (c) =>
      showSend(c, tools, { surveyId: idParam(c, 'survey'), form: emptyForm(c.req.query()) }),
    )

    .post('/:id/send', async (c) => {
      const editor = requireRole(c, 'editor');
      const surveyId = idParam(c, 'survey');
      const form = await readForm(c, SendFormFields);
      if (form.errors) return await showSend(c, tools, { surveyId, form });
      const refuse = async (name: string, mistake: string) => {
        const mistakes = await withFieldError(c, { [name]: mistake });
        return await showSend(c, tools, { surveyId, form: mistakes });
      };
      const segments = await listSegments(tools.db, editor.orgId);
      if (!filterOf(form.values.audience, segments).isKnown)
        return await refuse('audience', segmentDeleted);
      const send_at = readStart(c.var.organization.timeZone, form.values);
      if (typeof send_at === 'string') return await refuse('send_at', send_at);
      try {
        const { per_hour } = form.values;
        const audience = audienceOf(form.values.audience);
        const ifMatch = await readVersion(c);
        const input = { surveyId, send_at, per_hour, audience, ifMatch };
        const id = await createCampaign(tools, editor, input);
        const campaign = (await findCampaign(tools.db, editor.orgId, id))!;
        const texts: Partial<Record<typeof campaign.status, string>> = {
          scheduled: 'Campaign scheduled.',
          finished: audience ? 'Nobody was left to email.' : 'No contacts were left to email.',
        };
        const text = texts[campaign.status] ?? 'Campaign started.';
        return redirectWith(c, `${c.req.path}/${id}`, text);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (isOutdated(error)) return await refuse('', segmentChanged);
        return await refuse('', `Nothing was sent: ${error.message}.`);
      }
    })

    .get('/:id/send/judgement.csv', async (c) => {
      const editor = requireRole(c, 'editor');
      const survey = { orgId: c.var.organization.id, surveyId: idParam(c, 'survey') };
      await getOrgSurvey(tools.db, survey.orgId, survey.surveyId);
      const segments = await listSegments(tools.db, editor.orgId);
      const { filter, isKnown } = filterOf(c.req.query('audience') ?? '', segments);
      if (!isKnown) throw notFound('segment');
      await recordExport(tools.db, editor, 'contacts.exported');
      return exportResponse('csv', {
        name: 'judgement',
        parts: exportJudgement(tools.db, survey, filter),
      });
    })

    .get('/:id/send/:campaign', (c) => {
      const { search = '', status, ...page } = parseList(ResultsQuery, withoutAny(c.req.queries()));
      return showCampaign(c, tools, { ...idsOf(c), page, filter: { search, status } });
    })

    .get('/:id/send/:campaign/results.csv', async (c) => {
      const editor = requireRole(c, 'editor');
      const { surveyId, campaignId } = idsOf(c);
      const run = await findRun(tools.db, c.var.organization.id, campaignId);
      if (run?.survey_id !== surveyId) throw notFound('campaign');
      await recordExport(tools.db, editor, 'contacts.exported');
      const parts = exportResults(tools.db, c.var.organization.id, campaignId);
      return exportResponse('csv', { name: 'results', parts });
    })

    .post('/:id/send/:campaign/pause', (c) => act(c, pauseCampaign, 'Campaign paused.'))
    .post('/:id/send/:campaign/resume', (c) => act(c, resumeCampaign, 'Campaign resumed.'))
    .post('/:id/send/:campaign/stop', (c) => act(c, stopCampaign, 'Campaign stopped.'))

    .get('/:id/send/:campaign/stop', (c) => {
      requireRole(c, 'editor');
      return showStop(c, tools, idsOf(c));
    });
};

const segmentChanged =
  'Nothing was sent, because somebody else changed this segment after you opened it. Check the recipients and send again.';

/** The form sends an empty status for Any. */
function withoutAny({ status = [], ...queries }: Record<string, string[]>) {
  return { ...queries, status: status.filter((each) => each !== '') };
}

const idsOf = (c: Context) => ({
  surveyId: idParam(c, 'survey'),
  campaignId: idParam(c, 'campaign', 'campaign'),
});
