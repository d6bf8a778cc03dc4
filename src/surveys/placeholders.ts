import { oneLine } from '../lib/validation/plain-line.ts';

/** What a placeholder may stand for: something of the contact that a text addresses. */
export type AddressedPerson = {
  name: string | null;
  properties: Readonly<Record<string, unknown>>;
};

/** The unknown reader of a shareable link. */
export const anyPerson: AddressedPerson = { name: null, properties: {} };

export type Placeholder = { value: string; fallback: string };
type TextPiece = string | Placeholder;

const placeholder = /\{\{([^{}|]*)(?:\|([^{}]*))?\}\}/g;

/** The text cut at its placeholders: `Hello {{first_name|there}}` is a string and a placeholder. */
export function piecesOf(text: string): TextPiece[] {
  // split() with two groups alternates between text, the value's name and the fallback.
  const parts = text.split(placeholder);
  const pieces: TextPiece[] = [];
  for (let at = 0; at < parts.length; at += 3) {
    if (parts[at]) pieces.push(parts[at]!);
    if (at + 1 < parts.length) {
      pieces.push({ value: parts[at + 1]!.trim(), fallback: (parts[at + 2] ?? '').trim() });
    }
  }
  return pieces;
}

/** What is wrong with the placeholders of a text, as words that follow the name of its field. */
export function complainOfPlaceholders(text: string): string | undefined {
  for (const piece of piecesOf(text)) {
    if (typeof piece !== 'string' && !isKnown(piece.value)) {
      return `{{${piece.value}}} is not a placeholder: there are ${known}`;
    }
    if (typeof piece === 'string' && piece.includes('{{')) {
      return `has {{ without a placeholder after it: there are ${known}`;
    }
  }
  return undefined;
}

const known =
  '{{name}}, {{first_name}} and {{properties.NAME}}, each with a fallback as {{name|you}}';

const isKnown = (value: string) =>
  value === 'name' || value === 'first_name' || /^properties\..+/.test(value);

/** The text as the person reads it. */
export const fillIn = (text: string, person: AddressedPerson): string =>
  text.includes('{{') ? mapPlaceholders(text, (each) => valueFor(each, person)) : text;

/** The text with each placeholder replaced. */
export const mapPlaceholders = (text: string, replace: (each: Placeholder) => string) =>
  piecesOf(text)
    .map((piece) => (typeof piece === 'string' ? piece : replace(piece)))
    .join('');

/** What a placeholder stands for, on one line. A property that is no text and no number says nothing. */
export function valueFor({ value, fallback }: Placeholder, person: AddressedPerson): string {
  return shown(lookUp(value, person)) || fallback;
}

function lookUp(value: string, { name, properties }: AddressedPerson): unknown {
  if (value === 'name') return name;
  if (value === 'first_name') return name?.trim().split(/\s+/)[0];
  const property = value.slice('properties.'.length);
  return Object.hasOwn(properties, property) ? properties[property] : null;
}

const shown = (value: unknown) => {
  if (typeof value === 'string') return oneLine(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};
