import type { Context } from 'hono';
import { logoPath } from '../organizations/logo.rules.ts';
import type { Category } from '../scores.ts';
import { anyPerson, fillIn } from '../surveys/placeholders.ts';
import { type FollowUp, languageFor, type ThanksWords, textsIn } from '../surveys/texts.ts';
import { languageOf } from '../web/language.ts';
import { readHandedIn } from './handed-in.ts';
import type { SurveyLink } from './link.queries.ts';

/** Where the link leads that no person sees, below the link of the survey. */
export const trapPath = 'x';

/** The kinds of links: a contact's own, the shareable one, and the one that websites show in a frame. */
export const linkPaths = ['s', 'f', 'e'] as const;

/** A link as it was requested, and whether below it the hidden one. */
export type LinkAddress = { path: (typeof linkPaths)[number]; token: string; trap: boolean };

/** What a reader sees of a link: in which language, and what a website has handed in. */
export type ReadLink = SurveyLink & { shown_in: string; handed_in: HandedIn };

type HandedIn = ReturnType<typeof readHandedIn>;

/** The link as this request reads it. */
export function readLink(c: Context, link: SurveyLink): ReadLink {
  const accepted = c.req.header('Accept-Language');
  const property = link.person?.properties['language'];
  const handed_in = link.contact_id === null ? readHandedIn(c.req.query('properties')) : null;
  return { ...link, shown_in: languageFor(link, { property, accepted }), handed_in };
}

/** What the pages of a link show, in the reader's language and with the contact's own words. */
export function pageOf(link: ReadLink, fill = (text: string) => fillIn(text, personOf(link))) {
  const { type, shown_in, organization, color, logo } = link;
  const { question_text, follow_up } = textsIn(link, shown_in);
  const sender = { name: organization, color, logo: logoPath(link.org_id, logo) };
  const question = fill(question_text);
  const followUp = mapTexts(follow_up, fill);
  return {
    survey: { type, question, followUp, language: shown_in, sender },
    language: languageOf(shown_in),
  };
}

export const personOf = (link: ReadLink) => link.person ?? anyPerson;

export function mapTexts(
  followUp: FollowUp | null,
  change: (text: string) => string,
): FollowUp | null {
  if (followUp === null || typeof followUp === 'string') return followUp && change(followUp);
  return Object.fromEntries(
    Object.entries(followUp).map(([category, text]) => [category, change(text)]),
  );
}

/** What the survey says after an answer of this category; null when it leaves that to us. */
export function thanksFor(link: ReadLink, category: Category): ThanksWords | null {
  const { thanks } = textsIn(link, link.shown_in);
  const words = typeof thanks === 'string' ? { text: thanks } : thanks?.[category];
  return words ? { ...words, text: fillIn(words.text, personOf(link)) } : null;
}
