import { emailColumns, nameColumns } from '../contacts/rules.ts';
import type { SurveyType } from '../scores.ts';

/** What a column of an export says. What is none of these is a property of the person. */
export type ExportColumnUse =
  | ('email' | 'name' | 'first name' | 'last name' | 'score' | 'time' | 'comment' | 'type')
  | ('tags' | 'note' | 'unsubscribed' | 'bounced' | 'status' | 'active' | 'left out');

/** Names of columns for each use, compared without case, spaces and punctuation; of several the first one that is filled counts. */
export type KnownColumns = Readonly<Partial<Record<ExportColumnUse, readonly string[]>>>;

export type FormerService = { name: string; responses: KnownColumns; people: KnownColumns };

const person: KnownColumns = {
  email: emailColumns,
  name: nameColumns,
  'first name': ['firstname', 'personfirstname'],
  'last name': ['lastname', 'personlastname'],
};

export const delighted: FormerService = {
  name: 'Delighted',
  responses: {
    ...person,
    score: ['score', 'surveyscore', 'responsescore', 'rating'],
    time: [
      'createdat',
      'respondedat',
      'surveyrespondedat',
      'responsecreatedat',
      'responsetime',
      'responsedate',
      'submittedat',
      'timestamp',
      'date',
    ],
    comment: ['comment', 'comments', 'surveycomment', 'responsecomment'],
    type: ['surveytype', 'type'],
    tags: ['tags', 'tag', 'responsetags'],
    note: ['notes', 'note'],
    'left out': [
      'id',
      'responseid',
      'surveyresponseid',
      'personid',
      'permalink',
      'updatedat',
      'surveysentat',
      'sentat',
      'surveyid',
      'surveyname',
      'project',
    ],
  },
  people: {
    ...person,
    unsubscribed: ['unsubscribedat', 'unsubscribed', 'unsubscribedon', 'dateunsubscribed'],
    bounced: ['bouncedat', 'bounced', 'bouncedon', 'datebounced'],
    'left out': [
      'id',
      'personid',
      'createdat',
      'updatedat',
      'lastsentat',
      'lastsurveysentat',
      'lastrespondedat',
      'nextsurveyscheduledat',
      'nextsurveyat',
      'sendat',
    ],
  },
};

export const askNicely: FormerService = {
  name: 'AskNicely',
  responses: {
    ...person,
    score: ['answer', 'score', 'npsscore', 'rating'],
    time: ['responded', 'respondedat', 'respondedtime', 'responsetime', 'responsedate'],
    comment: ['comment', 'comments', 'feedback'],
    type: ['questiontype', 'surveytype', 'metric'],
    tags: ['tags', 'tag'],
    note: ['note', 'notes'],
    'left out': [
      'id',
      'responseid',
      'personid',
      'contactid',
      'answerlabel',
      'data',
      'status',
      'dontcontact',
      'sent',
      'opened',
      'lastemailed',
      'created',
      'published',
      'publishedname',
      'publishedavatar',
      'caseclosedtime',
      'deliverymethod',
    ],
  },
  people: {
    ...person,
    unsubscribed: ['unsubscribetime', 'unsubscribedat', 'unsubscribedtime', 'unsubscribed'],
    status: ['status', 'state'],
    active: ['active', 'isactive'],
    'left out': [
      'id',
      'contactid',
      'personid',
      'created',
      'lastemailed',
      'scheduled',
      'importedattime',
      'importedat',
    ],
  },
};

/** What services call the types of surveys, in the same spelling as columns. */
export const surveyTypeNames: Readonly<Record<string, SurveyType>> = {
  nps: 'nps',
  enps: 'nps',
  csat: 'csat',
  smileys: 'csat',
  ces: 'ces',
  thumbs: 'thumbs',
  '5star': 'star5',
  star5: 'star5',
  fivestar: 'star5',
  starsfive: 'star5',
  stars: 'star5',
};
