import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import { memoize } from '../lib/async/memoize.ts';
import { mapPlaceholders, type Placeholder, valueFor } from '../surveys/placeholders.ts';
import { languageOf } from '../web/language.ts';
import {
  type LinkAddress,
  mapTexts,
  pageOf,
  personOf,
  type ReadLink,
  trapPath,
} from './read-link.ts';
import { formPage } from './view/form.tsx';

const mostForms = 500;

/** Stands for what links of a survey have of their own in a form that is kept for all of them. */
const anyToken = randomUUID();
const markOf = (name: string | number) => `${anyToken}-${name}-`;
const everyMark = new RegExp(`${anyToken}-(\\w+)-`);

/**
 * Rendered once for a survey, language and score: the forms of its links differ by their token, by what the survey's
 * texts call the contact, and by what was handed in.
 */
export function emptyForm(
  link: ReadLink,
  { path, token, trap }: LinkAddress,
  score: number | null,
) {
  const { survey } = pageOf(link, (text) => text);
  const carries = link.handed_in !== null;
  const { pieces, placeholders, headers } = formPieces({ survey, path, trap, score, carries });
  const person = personOf(link);
  const own = (name: string) => {
    if (name === 'token') return encodeURIComponent(token);
    if (name === 'properties') return escaped(JSON.stringify(link.handed_in));
    return escaped(valueFor(placeholders[Number(name)]!, person));
  };
  const html = pieces.map((piece, at) => (at % 2 === 0 ? piece : own(piece))).join('');
  return { html, headers };
}

const escaped = (text: string) => String(html`${text}`);

type FormLook = Pick<ReturnType<typeof pageOf>, 'survey'> &
  Omit<LinkAddress, 'token'> & { score: number | null; carries: boolean };

const formPieces = memoize(mostForms, ({ survey, path, trap, score, carries }: FormLook) => {
  const placeholders: Placeholder[] = [];
  const mark = (text: string) =>
    mapPlaceholders(text, (each) => markOf(placeholders.push(each) - 1));
  const links = formLinks({ path, trap, token: markOf('token') });
  const form = formPage({
    survey: {
      ...survey,
      question: mark(survey.question),
      followUp: mapTexts(survey.followUp, mark),
    },
    language: languageOf(survey.language),
    ...links,
    score,
    carried: carries ? { properties: markOf('properties') } : {},
  });
  return { pieces: form.html.split(everyMark), placeholders, headers: form.headers };
});

/** Where a form is posted to, and what its page links to. */
export function formLinks({ path, token, trap }: LinkAddress) {
  const own = `/${path}/${token}`;
  const trapUrl = `${own}/${trapPath}`;
  const unsubscribeUrl = path === 's' ? `/u/${token}` : null;
  return { action: trap ? trapUrl : own, trapUrl, unsubscribeUrl };
}
