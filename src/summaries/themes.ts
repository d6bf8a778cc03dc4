import { changesOf, recordAct, type Writer } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Db, inTransaction } from '../lib/db/db.ts';
import { maxOwnThemes } from '../limits.ts';
import { deleteTheme, listThemes, saveTheme } from './queries.ts';

export async function addTheme(db: Db, writer: Writer, theme: CommentTheme) {
  const { orgId } = writer;
  return await inTransaction(db, async (tx) => {
    const own = await listThemes(tx, orgId);
    const saved = await saveTheme(tx, orgId, theme);
    const before = own.find(({ id }) => id === saved.id);
    if (!before && own.length >= maxOwnThemes) {
      throw new Refusal('conflict', `an organization can have at most ${maxOwnThemes} themes`);
    }
    const changes = changesOf(before ?? {}, { name: saved.name, words: saved.words });
    const details = { name: saved.name, changes };
    await recordAct(tx, { ...writer, act: 'theme.saved', details });
    return saved;
  });
}

export async function removeTheme(db: Db, writer: Writer, name: string) {
  await inTransaction(db, async (tx) => {
    if (!(await deleteTheme(tx, writer.orgId, name))) throw notFound('theme');
    await recordAct(tx, { ...writer, act: 'theme.deleted', details: { name } });
  });
}

export type CommentTheme = { name: string; words: readonly string[] };

/** Built-in themes. An organization can add themes or redefine one of these by name. */
const usualWords = {
  support:
    'support, customer service, helpdesk, agent, ticket, response time, staff, on hold, called back, first call',
  price: 'price, pricing, expensive, cost, cheap, affordable, fee, value for money',
  billing: 'billing, bill, overcharge, invoice, charge, payment, subscription, refund',
  performance: 'slow, fast, speed, performance, lag, laggy, loading, timeout, quick',
  reliability: 'crash, bug, buggy, error, broken, outage, downtime, unstable, reliable',
  'ease of use': 'easy, intuitive, confusing, complicated, usability, user friendly, simple',
  design: 'design, interface, ui, layout, look and feel, dark mode',
  features: 'feature, functionality, missing, roadmap, capability',
  onboarding: 'onboarding, setup, set up, getting started, training, tutorial',
  documentation: 'documentation, docs, manual, guide, instructions',
  integrations: 'integration, integrate, api, webhook, import, export',
  mobile: 'mobile, app, android, ios, iphone, tablet',
  delivery: 'delivery, deliver, parcel, shipping, arrived, package, courier, late',
  quality: 'quality, well made, durable, defective, faulty',
  communication: 'communication, informed, update, email, announcement',
  security: 'security, privacy, gdpr, login, password, two factor',
  pay: 'salary, salaries, wage, compensation, benefits',
  workload: 'workload, overtime, stress, burnout, understaffed',
  management: 'management, manager, leadership, decision, boss',
  team: 'team, teammate, colleague, coworker',
  flexibility: 'flexible, flexibility, remote work, home office',
  meetings: 'meeting',
  growth: 'career, promotion, learned, learning, development',
  reporting: 'report, reporting, dashboard, analytics, chart',
};

const usualThemes: readonly CommentTheme[] = Object.entries(usualWords).map(([name, words]) => ({
  name,
  words: words.split(', '),
}));

/** Themes of the organization come first and replace built-in themes of the same name. */
export function vocabulary(own: readonly CommentTheme[]): CommentTheme[] {
  const redefined = new Set(own.map(({ name }) => name.toLowerCase()));
  return [...own, ...usualThemes.filter(({ name }) => !redefined.has(name))];
}

/** Themes of a comment in the order in which it mentions them. */
export function themesOf(comment: string, themes: readonly CommentTheme[]): string[] {
  const text = ` ${plain(comment.replace(/\[(?:name|email|phone)\]/g, ' '))} `;
  return themes
    .map(({ name, words }) => ({ name, at: firstOf(text, words) }))
    .filter(({ at }) => at >= 0)
    .sort((one, other) => one.at - other.at)
    .map(({ name }) => name.toLowerCase());
}

/** Lowercase letters and digits with single spaces, so that case and hyphens do not matter. */
export const plain = (text: string) =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();

/** Scripts without spaces between words. */
const unspaced = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}]/u;

/** Also finds plurals and common endings: `crash` in "crashes". */
function firstOf(text: string, words: readonly string[]): number {
  const places = words.flatMap((word) => {
    const wanted = plain(word);
    if (wanted === '') return [];
    if (unspaced.test(wanted)) return [text.indexOf(wanted)];
    return endingsOf(wanted).map((ending) => text.indexOf(` ${wanted}${ending} `));
  });
  const matches = places.filter((place) => place >= 0);
  return matches.length === 0 ? -1 : Math.min(...matches);
}

/** Keeps `fee` from matching "feed". */
function endingsOf(word: string): readonly string[] {
  if (word.endsWith('ee')) return ['', 's'];
  return word.endsWith('e') ? ['', 's', 'd'] : ['', 's', 'es', 'ed', 'ing'];
}
