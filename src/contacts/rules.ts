const largestProperties = 16 * 1024;
const deepestProperties = 32;

/** What a person's name must not contain: characters that end a line or a field elsewhere. */
export const hasControlCharacters = (text: string) => /[\u0000-\u001f\u007f]/.test(text);

/** What is wrong with custom fields, in words that follow their name; nothing when they can be kept. */
export function complainOfProperties(properties: Record<string, unknown>): string | undefined {
  if (!isStorable(properties, deepestProperties)) {
    return `must be plain text and numbers, at most ${deepestProperties} levels deep`;
  }
  if (Buffer.byteLength(JSON.stringify(properties)) > largestProperties) {
    return `must be at most ${largestProperties} bytes as JSON`;
  }
  return undefined;
}

/** Postgres keeps neither a NUL nor half a surrogate pair; and depth must not exhaust the stack. */
function isStorable(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return !value.includes('\u0000') && value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  return Object.entries(value).every(
    ([name, inner]) => isStorable(name, 1) && isStorable(inner, levels - 1),
  );
}
