import type { Operation } from '../lib/openapi/section.ts';
import { One } from '../lib/paging/schemas.ts';
import { FollowUpInput, NoteInput, TagsInput } from './change.schemas.ts';
import { Response, ResponseNote } from './schemas.ts';

const path = '/api/v1/responses';

export const responseChangeOperations: readonly Operation[] = [
  {
    id: 'changeResponse',
    method: 'patch',
    path: `${path}/{id}`,
    summary: 'Follow a response up: its state and its owner',
    about: 'A detractor is open from the start. What is not given stays as it is.',
    permission: 'write',
    body: FollowUpInput,
    answer: { status: 200, about: 'the response as it is now', schema: One(Response) },
    refusals: { 400: { about: 'the owner is no member of the organization (`unknown_member`)' } },
  },
  {
    id: 'setResponseTags',
    method: 'put',
    path: `${path}/{id}/tags`,
    summary: 'Give a response its tags',
    about: 'All of them: a tag that is not in the list is taken away.',
    permission: 'write',
    body: TagsInput,
    answer: { status: 200, about: 'the response as it is now', schema: One(Response) },
    refusals: { 400: { about: 'one of them is no tag of the organization (`unknown_tag`)' } },
  },
  {
    id: 'addResponseNote',
    method: 'post',
    path: `${path}/{id}/notes`,
    summary: 'Write a note about a response',
    about: 'For the members of the organization: no page of a survey shows it.',
    permission: 'write',
    body: NoteInput,
    answer: { status: 201, about: 'the note', schema: One(ResponseNote) },
  },
  {
    id: 'releaseResponse',
    method: 'post',
    path: `${path}/{id}/release`,
    summary: 'Count a response that is held',
    about: 'From now on it is like any other: it counts, and its events are delivered.',
    permission: 'write',
    answer: { status: 200, about: 'the response as it is now', schema: One(Response) },
    refusals: { 409: { about: 'it is not held (`not_held`)' } },
  },
  {
    id: 'deleteResponse',
    method: 'delete',
    path: `${path}/{id}`,
    summary: 'Delete a response for good',
    about:
      'It counts nowhere any more. Its contact stays one that has answered; events that were delivered stay delivered.',
    permission: 'write',
    answer: { status: 204, about: 'it is gone' },
  },
];
