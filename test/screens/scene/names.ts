import { createHash } from 'node:crypto';

/** When everything is seen: a Wednesday, far from the edges of a day, a week, a month and a change of clocks. */
export const now = new Date('2026-05-20T10:20:30.000Z');

/** So many days and hours before that. */
export const ago = (days: number, hours = 0): Date =>
  new Date(now.getTime() - (days * 24 + hours) * 3_600_000);

export const ahead = (days: number): Date => ago(-days);

const nameOf = new Map<string, string>();

/** The id of what the scene calls by a name: kept pages show the name. */
export function id(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  nameOf.set(uuid, name);
  return uuid;
}

/** The same for an id that begins with its time, as those of deliveries do. */
export function idOfTime(name: string, at: Date): string {
  const hex = at.getTime().toString(16).padStart(12, '0');
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8)}-7000${id(name).slice(18)}`;
  nameOf.set(uuid, name);
  return uuid;
}

const words: string[] = [];

/** A secret word of a link: always the same for the same name. */
export function word(name: string): string {
  const made = createHash('sha256').update(`word ${name}`).digest('base64url');
  words.push(made);
  return made;
}

/** A text in which links that were drawn by lot since are all the same. */
export const withoutLot = (text: string): string =>
  text.replace(/(?<=\/f\/)[\w-]{16}(?![\w-])/g, (share) =>
    words.some((each) => each.startsWith(share)) ? share : 'LOT',
  );

const uuids = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g;

/** A text with names in place of ids; those without a name are counted as they come. */
export function withNames(text: string): string {
  const others = new Map<string, string>();
  return text.replace(uuids, (uuid) => {
    const known = nameOf.get(uuid) ?? others.get(uuid) ?? `id-${others.size + 1}`;
    if (!nameOf.has(uuid)) others.set(uuid, known);
    return known;
  });
}
