import type { ApiSection } from '../lib/openapi/section.ts';
import { Page } from '../lib/paging/page.ts';
import { List, One } from '../lib/paging/schemas.ts';
import { Survey, SurveyItem } from './schemas.ts';

const path = '/api/v1/surveys';

export const surveySection: ApiSection = {
  name: 'Surveys',
  about: 'A question, asked of a list of people.',
  schemas: { SurveyItem, Survey },
  operations: [
    {
      id: 'listSurveys',
      method: 'get',
      path,
      summary: 'List surveys, newest first',
      about: 'Surveys of every status. Surveys are created by the operator, on the command line.',
      permission: 'read',
      query: Page,
      answer: { status: 200, about: 'a page of them', schema: List(SurveyItem) },
    },
    {
      id: 'getSurvey',
      method: 'get',
      path: `${path}/{id}`,
      summary: 'Get a survey and what its answers come to',
      about: '`stats` counts every response that is not held, whenever it was given.',
      permission: 'read',
      answer: { status: 200, about: 'the survey', schema: One(Survey) },
    },
  ],
};
