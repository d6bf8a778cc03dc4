import { aboutCsv, exportTypes } from '../lib/export/answer.ts';
import type { ApiSection } from '../lib/openapi/section.ts';
import { List, One } from '../lib/paging/schemas.ts';
import { responseChangeOperations } from './change.operations.ts';
import { Nps, NpsAnswer, NpsQuery, NpsTrend, NpsTrendRow, TrendQuery } from './nps.schemas.ts';
import {
  AnswerBody,
  GivenAnswer,
  Response,
  ResponseExportQuery,
  ResponseNote,
  ResponseQuery,
} from './schemas.ts';
import { aboutProperties } from './scope.schemas.ts';

const path = '/api/v1/responses';

export const responseSection: ApiSection = {
  name: 'Responses',
  about: 'What people answered, and the score it comes to.',
  schemas: { Response, ResponseNote, Nps, NpsTrendRow },
  operations: [
    {
      id: 'listResponses',
      method: 'get',
      path,
      summary: 'List responses, newest first',
      about: `All filters apply together. A survey of another organization leaves nothing. ${aboutProperties}`,
      permission: 'read',
      query: ResponseQuery,
      answer: { status: 200, about: 'a page of them', schema: List(Response) },
      refusals: {
        422: {
          about:
            'a search took longer than 10 seconds (`search_too_slow`): search for more letters, or in a shorter range',
          example: {
            error:
              'the search took longer than 10 seconds: search for more letters, or in a shorter range of dates',
            code: 'search_too_slow',
          },
        },
      },
    },
    {
      id: 'getResponse',
      method: 'get',
      path: `${path}/{id}`,
      summary: 'Get a response',
      about: 'Held responses are found too, with `held: true`.',
      permission: 'read',
      answer: { status: 200, about: 'the response', schema: One(Response) },
    },
    {
      id: 'exportResponses',
      method: 'get',
      path: `${path}/export`,
      summary: 'Export responses as a file',
      about: `Everything that the filters of the list leave, newest first. ${aboutCsv} ${aboutProperties}`,
      permission: 'read',
      query: ResponseExportQuery,
      answer: { status: 200, about: 'the file, as long as it is', files: exportTypes },
    },
    ...responseChangeOperations,
    {
      id: 'getNps',
      method: 'get',
      path: '/api/v1/nps',
      summary: 'Roll responses up to a Net Promoter Score',
      about:
        'The share of promoters minus the share of detractors, from -100 to 100, of all responses that the filters ' +
        'leave. Other scales count too: by the category that a score has on the scale of its survey. ' +
        aboutProperties,
      permission: 'read',
      query: NpsQuery,
      answer: {
        status: 200,
        about: 'the score, and what it is made of',
        schema: NpsAnswer,
      },
    },
    {
      id: 'getNpsTrend',
      method: 'get',
      path: '/api/v1/nps/trend',
      summary: 'The Net Promoter Score by day, week or month',
      about:
        'The fields of the rollup for each day, week or month of the range, also for those without answers. ' +
        'The first and the last row count only what is in the range. At most 1,100 rows. ' +
        aboutProperties,
      permission: 'read',
      query: TrendQuery,
      answer: { status: 200, about: 'a row for each, oldest first', schema: NpsTrend },
    },
  ],
};

const giving = {
  method: 'post',
  permission: 'none',
  body: AnswerBody,
  answer: { status: 201, about: 'the response that was recorded', schema: One(GivenAnswer) },
  refusals: {
    400: { about: 'the survey is not open' },
    409: { about: 'the survey was answered by this link already' },
  },
} as const;

export const answeringSection: ApiSection = {
  name: 'Answering',
  about:
    'The links of a survey are pages for people. A POST with a JSON body, or with `Accept: application/json`, answers ' +
    'JSON instead, so that a program or a page of your own can give an answer. No key is needed: the link is the permission.',
  schemas: { GivenAnswer },
  operations: [
    {
      ...giving,
      id: 'answerPersonal',
      path: '/s/{token}',
      parameters: { token: linkPart('the `token` of a contact, as its mail has it') },
      summary: 'Answer a survey by the link of a contact',
      about: 'One response for each contact. An answer that a machine seems to have given is held.',
    },
    {
      ...giving,
      id: 'answerShared',
      path: '/f/{share_id}',
      parameters: { share_id: linkPart('the last part of the shareable link of a survey') },
      summary: 'Answer a survey by its shareable link',
      about:
        'Each POST is a response of its own, without a contact. Limited to 300 a minute and address.',
    },
  ],
};

function linkPart(about: string) {
  return { about, schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' } };
}
