import type { Room } from '../lib/openapi/openapi.ts';
import { List, One } from '../lib/paging/list-answer.ts';
import { Nps, NpsQuery, Response, ResponseQuery } from './schemas.ts';

const path = '/api/v1/responses';

export const responseRoom: Room = {
  name: 'Responses',
  about: 'What people answered, and the score it comes to.',
  schemas: { Response, Nps },
  operations: [
    {
      id: 'listResponses',
      method: 'get',
      path,
      summary: 'List responses, newest first',
      permission: 'read',
      query: ResponseQuery,
      answer: { status: 200, about: 'a page of them', schema: List(Response) },
    },
    {
      id: 'getResponse',
      method: 'get',
      path: `${path}/{id}`,
      summary: 'Get a response',
      permission: 'read',
      answer: { status: 200, about: 'the response', schema: One(Response) },
    },
    {
      id: 'getNps',
      method: 'get',
      path: '/api/v1/nps',
      summary: 'Roll responses up to a Net Promoter Score',
      permission: 'read',
      query: NpsQuery,
      answer: {
        status: 200,
        about: 'the score, and what it is made of',
        schema: One(Nps),
      },
    },
  ],
};
