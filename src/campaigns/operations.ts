import * as v from 'valibot';
import { Failure } from '../lib/openapi/parts.ts';
import type { ApiSection, Operation } from '../lib/openapi/section.ts';
import { Page } from '../lib/paging/page.ts';
import { List, One } from '../lib/paging/schemas.ts';
import { SendLimitExceeded } from '../sends/routes.ts';
import {
  Campaign,
  CampaignInput,
  CampaignQuery,
  CampaignResultItem,
  ResultsQuery,
  TriedCampaign,
} from './schemas.ts';

const ofSurvey = '/api/v1/surveys/{id}/campaigns';
const path = '/api/v1/campaigns/{id}';

const act = (word: 'pause' | 'resume' | 'stop', summary: string, about: string): Operation => ({
  id: `${word}Campaign`,
  method: 'post',
  path: `${path}/${word}`,
  summary,
  about,
  permission: 'write',
  answer: { status: 200, about: 'the campaign as it stands now', schema: One(Campaign) },
  refusals: {
    409: { about: 'the campaign is over (`campaign_over`), or the same repeat still runs' },
  },
});

export const campaignSection: ApiSection = {
  name: 'Campaigns',
  about:
    'A survey mailed to all of its contacts that are still to be asked: at a time, at a pace, and to be paused or stopped on the way.',
  schemas: { Campaign, CampaignResult: CampaignResultItem },
  operations: [
    {
      id: 'createCampaign',
      method: 'post',
      path: ofSurvey,
      summary: 'Mail a survey to all contacts that are still to be asked',
      about:
        'Mails every contact that is `pending` or `failed` when it starts, judged as a send judges. It answers when all are ' +
        'judged; the mails go out afterwards. The quota of all mails is reserved at the start, or nothing is sent. A dry run answers 200.',
      permission: 'write',
      query: CampaignQuery,
      body: CampaignInput,
      bodyOptional: true,
      answer: { status: 202, about: 'the campaign', schema: One(Campaign) },
      refusals: {
        400: { about: 'the survey is a draft or closed, or a field is not of its form' },
        403: {
          about: 'the monthly send limit would be exceeded, and nothing was sent',
          schema: v.union([Failure, SendLimitExceeded]),
        },
      },
      also: { status: 200, about: 'what a dry run found', schema: One(TriedCampaign) },
    },
    {
      id: 'listCampaigns',
      method: 'get',
      path: ofSurvey,
      summary: 'List the campaigns of a survey, newest first',
      about: 'Each with its counts as they stand now.',
      permission: 'read',
      query: Page,
      answer: { status: 200, about: 'a page of them', schema: List(Campaign) },
    },
    {
      id: 'getCampaign',
      method: 'get',
      path,
      summary: 'Get a campaign and how far it is',
      about: '`total` is the sum of `sent`, `duplicates`, `invalid`, `failed` and `remaining`.',
      permission: 'read',
      answer: { status: 200, about: 'the campaign', schema: One(Campaign) },
    },
    {
      id: 'listCampaignResults',
      method: 'get',
      path: `${path}/results`,
      summary: 'List what became of each contact of a campaign',
      about: 'One row for each contact that was judged, also while the campaign runs.',
      permission: 'read',
      query: ResultsQuery,
      answer: { status: 200, about: 'a page of them', schema: List(CampaignResultItem) },
    },
    act('pause', 'Pause a campaign', 'No further mail begins until it is resumed.'),
    act('resume', 'Resume a paused campaign', 'It goes on at its pace from now on.'),
    act(
      'stop',
      'Stop a campaign for good',
      'What has not begun is not mailed, and its quota is given back.',
    ),
  ],
};
