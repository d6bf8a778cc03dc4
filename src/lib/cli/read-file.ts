import { readFileSync, statSync } from 'node:fs';
import { Refusal } from '../../errors.ts';

const largestMiB = 256;

/** The text of a file that a command names. What cannot be read is told in a sentence. */
export function readTextFile(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > largestMiB * 1024 * 1024) {
      throw new Refusal('invalid', `${path} is larger than ${largestMiB} MiB: cut it into several`);
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const why = error instanceof TypeError ? 'it is not UTF-8 text' : (error as Error).message;
    throw new Refusal('invalid', `${path} cannot be read: ${why}`);
  }
}
