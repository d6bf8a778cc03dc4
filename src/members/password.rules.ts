import { commonPasswords, commonWords } from './common-passwords.ts';

export const shortestPassword = 12;
/** Hashing takes longer the longer it is; nothing that a person or their program makes up is longer. */
export const longestPassword = 500;

const fewestCharacters = 5;
const shortestCommonWord = 4;
const mostAroundOwnWord = 6;

/** Keys next to each other, forwards and backwards: what is taken from them is no secret. */
const rows = [
  '01234567890',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiop',
  'qwertzuiop',
  'asdfghjkl',
  'zxcvbnm',
];

/** What is wrong with a new password, as a sentence; undefined for one that will do. */
export function refusePassword(
  password: string,
  about: { email: string; name: string },
): string | undefined {
  const length = [...password].length;
  if (length < shortestPassword) return `Use ${shortestPassword} characters or more.`;
  if (length > longestPassword) return `Use at most ${longestPassword} characters.`;
  if (isCommon(password))
    return 'This password is among the first that others would try. Choose another.';
  if (isAbout(password, about))
    return 'This is little more than your name or address. Choose another.';
  return undefined;
}

/** Two spellings of the same characters are the same password, whatever keyboard they were typed on. */
export const normalizePassword = (password: string) => password.normalize('NFKC');

function isCommon(password: string): boolean {
  const lower = password.toLowerCase();
  if (commonPasswords.has(lower) || new Set(lower).size < fewestCharacters) return true;
  if (isRun(lower)) return true;
  const word = unleet(lower).replace(/[^a-z]/g, '');
  return isRepeated(word) || isRepeated(lower.replace(/[^a-z]/g, ''));
}

/** One common word, once or several times; what is around it are digits and signs. */
function isRepeated(letters: string): boolean {
  for (let length = shortestCommonWord; length <= letters.length; length++) {
    if (letters.length % length !== 0) continue;
    const word = letters.slice(0, length);
    if (commonWords.has(word) && word.repeat(letters.length / length) === letters) return true;
  }
  return false;
}

/** Mostly neighbours: `1234567890qwe` has two jumps. */
function isRun(text: string): boolean {
  let jumps = 0;
  for (let at = 1; at < text.length; at++) {
    const pair = text.slice(at - 1, at + 1);
    const back = pair.split('').reverse().join('');
    const isNeighbour =
      pair[0] === pair[1] || rows.some((row) => row.includes(pair) || row.includes(back));
    if (!isNeighbour) jumps += 1;
  }
  return jumps <= text.length / 6;
}

function isAbout(password: string, { email, name }: { email: string; name: string }): boolean {
  const lower = password.toLowerCase();
  const own = [
    ...name.toLowerCase().split(/\s+/),
    ...email.toLowerCase().split(/[@.]/),
    email.toLowerCase(),
  ];
  return own.some(
    (word) => lower.includes(word) && lower.length - word.length <= mostAroundOwnWord,
  );
}

const unleet = (text: string) =>
  text
    .replace(/0/g, 'o')
    .replace(/[1!|]/g, 'i')
    .replace(/3/g, 'e')
    .replace(/[4@]/g, 'a')
    .replace(/[5$]/g, 's')
    .replace(/7/g, 't');
