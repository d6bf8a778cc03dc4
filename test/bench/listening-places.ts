import { rareWord } from './seed.ts';

export type Place = { name: string; path: string; atMost: number; ofApp?: boolean };

type Filled = { slug: string; surveyId: string; responseId: string; tag: string; owner: string };

/** What is asked for, and how many milliseconds it may take. */
export function places({ slug, surveyId, responseId, tag, owner }: Filled): Place[] {
  const inbox = `/o/${slug}/responses`;
  const api = '/api/v1';
  const years = 'date_from=2024-01-01&date_to=2026-12-31';
  const screens = [
    ['responses', ''],
    ['responses of a survey', `?survey_id=${surveyId}`],
    ['responses of a category', '?category=detractor'],
    ['responses with a tag', `?tag=${tag}`],
    ['responses in a language', '?language=de'],
    ['responses with a comment', '?has_comment=true'],
    ['responses to follow up', '?state=open'],
    ['responses with a property', '?property.plan=pro'],
    ['responses of a sentiment', '?sentiment=negative'],
    ['responses of an owner', `?owner=${owner}`],
    ['responses without an owner', '?owner=none'],
    ['responses without a comment', '?has_comment=false'],
    ['responses of employees or not', '?audience=customer'],
    ['responses of dates', '?date_from=2026-01-15&date_to=2026-08-20&state=open'],
    ...combinations({ surveyId, tag, owner }),
    ['responses, search for a rare word', `?search=${rareWord}`],
  ].map(([name, query]) => ({
    name: `screen: ${name}`,
    path: inbox + query,
    atMost: 50,
    ofApp: true,
  }));
  const home = `/o/${slug}`;
  const homes = [
    ...['7d', '30d', '90d', '365d'].map((period) => [`of ${period}`, `?period=${period}`]),
    ['of three years', '?date_from=2024-01-01&date_to=2026-12-30'],
    ['of a survey', `?survey_id=${surveyId}`],
    ['of a survey for a year', `?survey_id=${surveyId}&period=365d`],
  ].map(([name, query]) => ({
    name: `screen: Home ${name}`,
    path: home + query,
    atMost: 50,
    ofApp: true,
  }));
  const surveyPage = `${home}/surveys/${surveyId}`;
  const trends = ['UTC', 'America/Los_Angeles', 'Asia/Kolkata'].flatMap((zone) =>
    ['', `&survey_id=${surveyId}`, '&type=nps'].map((of) => ({
      name: `trend by day over three years${of ? `, ${of.slice(1).split('=')[0]}` : ''} (${zone})`,
      path: `${api}/nps/trend?${years}${of}&tz=${zone}`,
      atMost: 20,
    })),
  );
  return [
    ...homes,
    { name: 'screen: a survey', path: surveyPage, atMost: 50, ofApp: true },
    {
      name: 'screen: a survey for a year',
      path: `${surveyPage}?period=365d`,
      atMost: 50,
      ofApp: true,
    },
    ...trends,
    { name: 'nps by a property', path: `${api}/nps?property.country=DE`, atMost: 100 },
    { name: 'nps by a property of all', path: `${api}/nps?property.source=shop`, atMost: 100 },
    {
      name: 'trend by a property',
      path: `${api}/nps/trend?${years}&property.country=DE`,
      atMost: 100,
    },
    { name: 'responses by a property', path: `${api}/responses?property.country=DE`, atMost: 100 },
    {
      name: 'responses by a property of a quarter',
      path: `${api}/responses?property.plan=pro`,
      atMost: 100,
    },
    {
      name: 'responses by a property of all',
      path: `${api}/responses?property.source=shop`,
      atMost: 100,
    },
    {
      name: 'responses by a property of one',
      path: `${api}/responses?property.number=7`,
      atMost: 100,
    },
    ...screens,
    ...[
      '',
      `owner=${owner}`,
      'property.source=shop&state=done',
      'property.plan=pro&property.country=DE',
      'property.source=shop&language=fr&sentiment=mixed',
    ].map((query) => ({
      name: `screen: a response among those by ${namesOf(query) || 'nothing'}`,
      path: `${inbox}/${responseId}?${query}`,
      atMost: 50,
      ofApp: true,
    })),
    { name: 'screen: people', path: `/o/${slug}/people`, atMost: 50, ofApp: true },
    {
      name: 'screen: people, search',
      path: `/o/${slug}/people?search=moreau77`,
      atMost: 50,
      ofApp: true,
    },
  ];
}

/** Those that take the longest of all pairs of filters, and of some of more. */
const combinations = ({ surveyId, tag, owner }: Pick<Filled, 'surveyId' | 'tag' | 'owner'>) =>
  [
    'property.plan=pro&property.country=DE',
    'property.source=shop&property.country=DE',
    'property.plan=pro&state=open',
    `property.source=shop&owner=${owner}`,
    `property.plan=pro&tag=${tag}`,
    'property.source=shop&sentiment=negative',
    'state=open&category=detractor',
    'has_comment=false&audience=customer',
    `owner=none&has_comment=false&property.source=shop&property.country=DE&survey_id=${surveyId}`,
    'language=de&state=open&date_from=2026-01-15&sentiment=mixed',
  ].map((query) => [`responses by ${namesOf(query)}`, `?${query}`]);

const namesOf = (query: string) => query.replaceAll(/=[^&]*/g, '').replaceAll('&', ', ');
