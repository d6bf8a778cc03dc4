import { Refusal } from '../../errors.ts';

const deepestNesting = 64;

/**
 * JSON from outside, as a value that can be handled and stored without surprise: strings that are text
 * (Postgres refuses NUL, and half a surrogate pair would be stored as something else), no key that means
 * more than itself to JavaScript, and not nested deeper than anybody means.
 */
export function parseJson(text: string, complaint = theBody): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const where = text.trim() === '' ? ', but empty' : whereIn(error as Error);
    throw new Refusal('invalid', complaint(where), { code: 'invalid_json' });
  }
  checkValue(value, 0);
  return value;
}

const theBody = (where: string) => `the body is not JSON${where}`;

/** The engine's complaint may quote what was sent, such as an address: only its place is taken. */
function whereIn({ message }: Error): string {
  if (message.startsWith('Unexpected end')) return ', it ends too early';
  const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(message) ?? [];
  return line ? `, at line ${line} column ${column}` : '';
}

function checkValue(value: unknown, depth: number) {
  if (typeof value === 'string') return checkText(value);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= deepestNesting) throw refuse(`is nested deeper than ${deepestNesting} levels`);
  if (Array.isArray(value)) {
    for (const item of value) checkValue(item, depth + 1);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') throw refuse('has a field named __proto__, which is not allowed');
    checkText(key);
    checkValue(item, depth + 1);
  }
}

function checkText(text: string) {
  if (text.includes('\0')) throw refuse('contains the character NUL, which cannot be stored');
  if (!text.isWellFormed()) throw refuse('contains half a surrogate pair, which is no character');
}

const refuse = (what: string) =>
  new Refusal('invalid', `the body ${what}`, { code: 'invalid_text' });
