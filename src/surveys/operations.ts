import type { ApiSection } from '../lib/openapi/section.ts';
import { Page } from '../lib/paging/page.ts';
import { List, One } from '../lib/paging/schemas.ts';
import { DeleteQuery, Survey, SurveyItem } from './schemas.ts';
import { NewSurveyInput, SurveyChangeInput } from './wish.schemas.ts';

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
      about: 'Surveys of every status.',
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
    {
      id: 'createSurvey',
      method: 'post',
      path,
      summary: 'Make a survey',
      about:
        'Texts may hold placeholders: `{{name}}`, `{{first_name}}` and `{{properties.NAME}}` of the contact, each ' +
        'with a fallback as in `{{first_name|there}}`. Of the languages of `texts` a reader gets that of the ' +
        "contact's property `language`, else one that the browser asks for, else the survey's own.",
      permission: 'write',
      body: NewSurveyInput,
      answer: { status: 201, about: 'the survey', schema: One(Survey) },
    },
    {
      id: 'changeSurvey',
      method: 'patch',
      path: `${path}/{id}`,
      summary: 'Change a survey',
      about: 'What is not given stays as it is. Pages and mails say the new texts from now on.',
      permission: 'write',
      body: SurveyChangeInput,
      answer: { status: 200, about: 'the survey', schema: One(Survey) },
      refusals: {
        409: {
          about:
            'the survey has answers (`survey_has_answers`): its type and audience stay; it is completed ' +
            '(`survey_completed`), or in use and no draft any more (`survey_in_use`)',
        },
      },
    },
    {
      id: 'deleteSurvey',
      method: 'delete',
      path: `${path}/{id}`,
      summary: 'Delete a survey',
      about: 'Its contacts, mails and totals go with it.',
      permission: 'write',
      query: DeleteQuery,
      answer: { status: 204, about: 'it is gone' },
      refusals: {
        409: {
          about: 'the survey has answers, and `answers=delete` is not given (`survey_has_answers`)',
        },
      },
    },
    {
      id: 'openSurvey',
      method: 'post',
      path: `${path}/{id}/open`,
      summary: 'Open a draft',
      about: 'From now on it can be sent and answered. A survey that is open stays so.',
      permission: 'write',
      answer: { status: 200, about: 'the survey', schema: One(Survey) },
      refusals: { 409: { about: 'the survey is completed (`survey_completed`)' } },
    },
    {
      id: 'closeSurvey',
      method: 'post',
      path: `${path}/{id}/close`,
      summary: 'Close a survey',
      about:
        'Its links show that it is closed, until it is reopened. A survey that is closed stays so.',
      permission: 'write',
      answer: { status: 200, about: 'the survey', schema: One(Survey) },
    },
    {
      id: 'reopenSurvey',
      method: 'post',
      path: `${path}/{id}/reopen`,
      summary: 'Make a completed survey active again',
      about: 'However it completed. A survey that is active stays so.',
      permission: 'write',
      answer: { status: 200, about: 'the survey', schema: One(Survey) },
      refusals: { 409: { about: 'the survey is a draft (`survey_draft`)' } },
    },
    {
      id: 'copySurvey',
      method: 'post',
      path: `${path}/{id}/copy`,
      summary: 'Copy a survey',
      about:
        'The copy is a draft, with all that was decided about the survey and none of its contacts and answers.',
      permission: 'write',
      answer: { status: 201, about: 'the copy', schema: One(Survey) },
    },
  ],
};
