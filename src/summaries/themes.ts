import { recordAct, type Writer } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Db, inTransaction } from '../lib/db/db.ts';
import { countThemesOf, deleteTheme, saveTheme } from './queries.ts';

/** All of them are looked for in every comment, and sent to a provider. */
const mostOwnThemes = 100;

/** Adds a theme, or gives the one of that name other words. */
export async function keepTheme(db: Db, writer: Writer, theme: CommentTheme) {
  const { orgId } = writer;
  return await inTransaction(db, async (tx) => {
    const kept = await saveTheme(tx, orgId, theme);
    if ((await countThemesOf(tx, orgId)) > mostOwnThemes) {
      throw new Refusal(
        'conflict',
        `an organization has at most ${mostOwnThemes} themes of its own`,
      );
    }
    const details = { name: kept.name };
    await recordAct(tx, { ...writer, act: 'theme.saved', details });
    return kept;
  });
}

export async function removeTheme(db: Db, writer: Writer, name: string) {
  await inTransaction(db, async (tx) => {
    if (!(await deleteTheme(tx, writer.orgId, name))) throw notFound('theme');
    await recordAct(tx, { ...writer, act: 'theme.deleted', details: { name } });
  });
}

/** A theme, and the words or phrases that speak of it. */
export type CommentTheme = { name: string; words: readonly string[] };

/** What most comments are about; each may add its own, or redefine one by its name. */
export const usualThemes: readonly CommentTheme[] = [
  {
    name: 'support',
    words: [
      'support',
      'customer service',
      'helpdesk',
      'agent',
      'ticket',
      'response time',
      'staff',
      'on hold',
      'called back',
      'first call',
    ],
  },
  {
    name: 'price',
    words: [
      'price',
      'pricing',
      'expensive',
      'cost',
      'cheap',
      'affordable',
      'fee',
      'value for money',
    ],
  },
  {
    name: 'billing',
    words: [
      'billing',
      'bill',
      'overcharge',
      'invoice',
      'charge',
      'payment',
      'subscription',
      'refund',
    ],
  },
  {
    name: 'performance',
    words: ['slow', 'fast', 'speed', 'performance', 'lag', 'laggy', 'loading', 'timeout', 'quick'],
  },
  {
    name: 'reliability',
    words: [
      'crash',
      'bug',
      'buggy',
      'error',
      'broken',
      'outage',
      'downtime',
      'unstable',
      'reliable',
    ],
  },
  {
    name: 'ease of use',
    words: [
      'easy',
      'intuitive',
      'confusing',
      'complicated',
      'usability',
      'user friendly',
      'simple',
    ],
  },
  { name: 'design', words: ['design', 'interface', 'ui', 'layout', 'look and feel', 'dark mode'] },
  { name: 'features', words: ['feature', 'functionality', 'missing', 'roadmap', 'capability'] },
  {
    name: 'onboarding',
    words: ['onboarding', 'setup', 'set up', 'getting started', 'training', 'tutorial'],
  },
  { name: 'documentation', words: ['documentation', 'docs', 'manual', 'guide', 'instructions'] },
  {
    name: 'integrations',
    words: ['integration', 'integrate', 'api', 'webhook', 'import', 'export'],
  },
  { name: 'mobile', words: ['mobile', 'app', 'android', 'ios', 'iphone', 'tablet'] },
  {
    name: 'delivery',
    words: ['delivery', 'deliver', 'parcel', 'shipping', 'arrived', 'package', 'courier', 'late'],
  },
  { name: 'quality', words: ['quality', 'well made', 'durable', 'defective', 'faulty'] },
  {
    name: 'communication',
    words: ['communication', 'informed', 'update', 'email', 'announcement'],
  },
  { name: 'security', words: ['security', 'privacy', 'gdpr', 'login', 'password', 'two factor'] },
  { name: 'pay', words: ['salary', 'salaries', 'wage', 'compensation', 'benefits'] },
  { name: 'workload', words: ['workload', 'overtime', 'stress', 'burnout', 'understaffed'] },
  { name: 'management', words: ['management', 'manager', 'leadership', 'decision', 'boss'] },
  { name: 'team', words: ['team', 'teammate', 'colleague', 'coworker'] },
  { name: 'flexibility', words: ['flexible', 'flexibility', 'remote work', 'home office'] },
  { name: 'meetings', words: ['meeting'] },
  { name: 'growth', words: ['career', 'promotion', 'learned', 'learning', 'development'] },
  { name: 'reporting', words: ['report', 'reporting', 'dashboard', 'analytics', 'chart'] },
];

/** An organization's own vocabulary before the usual one; the same name replaces. */
export function vocabulary(own: readonly CommentTheme[]): CommentTheme[] {
  const redefined = new Set(own.map(({ name }) => name.toLowerCase()));
  return [...own, ...usualThemes.filter(({ name }) => !redefined.has(name))];
}

/** The themes that a comment speaks of, in the order in which it comes to them. */
export function themesOf(comment: string, themes: readonly CommentTheme[]): string[] {
  const text = ` ${plain(comment.replace(/\[(?:name|email|phone)\]/g, ' '))} `;
  return themes
    .map(({ name, words }) => ({ name, at: firstOf(text, words) }))
    .filter(({ at }) => at >= 0)
    .sort((one, other) => one.at - other.at)
    .map(({ name }) => name.toLowerCase());
}

/** Letters and digits with single spaces between them: a hyphen or a capital makes no other word. */
export const plain = (text: string) =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();

/** Scripts that put nothing between words. */
const unspaced = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}]/u;

/** A word is met in its plural and its usual endings too: `crash` in "crashes". */
function firstOf(text: string, words: readonly string[]): number {
  const places = words.flatMap((word) => {
    const wanted = plain(word);
    if (wanted === '') return [];
    if (unspaced.test(wanted)) return [text.indexOf(wanted)];
    return endingsOf(wanted).map((ending) => text.indexOf(` ${wanted}${ending} `));
  });
  const met = places.filter((place) => place >= 0);
  return met.length === 0 ? -1 : Math.min(...met);
}

/** A feed is no fee. */
function endingsOf(word: string): readonly string[] {
  if (word.endsWith('ee')) return ['', 's'];
  return word.endsWith('e') ? ['', 's', 'd'] : ['', 's', 'es', 'ed', 'ing'];
}
