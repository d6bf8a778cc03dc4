import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { Refusal } from '../errors.ts';
import { createSemaphore, TooManyWaiting } from '../lib/async/semaphore.ts';

/** OWASP's first choice for argon2id: 19 MiB, twice. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const hashBytes = 32;
const saltBytes = 16;

const hashForm =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([\w+/]{11,88})\$([\w+/]{22,88})$/;

const derive = promisify(argon2);

/** Hashing occupies at most half of the processors, so that requests still run. Client addresses take turns. */
const slots = createSemaphore({
  slots: Math.max(1, Math.floor(availableParallelism() / 2)),
  maxWaitingPerGroup: 100,
});

type ClientAddress = { address: string };

export async function hashPassword(password: string, { address }: ClientAddress): Promise<string> {
  const nonce = randomBytes(saltBytes);
  const hash = await runInSlot(address, () =>
    derive('argon2id', { ...message(password), nonce, ...cost, tagLength: hashBytes }),
  );
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${text(nonce)}$${text(hash)}`;
}

/** Takes the same time without a stored password, so that the time does not reveal accounts. */
export async function checkPassword(
  stored: string | null,
  password: string,
  { address }: ClientAddress,
): Promise<boolean> {
  const { nonce, expected, ...costs } = readHash(stored) ?? dummyHash;
  const tagLength = expected.length;
  const hash = await runInSlot(address, () =>
    derive('argon2id', { ...message(password), nonce, ...costs, tagLength }),
  );
  return timingSafeEqual(hash, expected) && stored !== null;
}

function readHash(stored: string | null) {
  const [, memory, passes, parallelism, salt, hash] = hashForm.exec(stored ?? '') ?? [];
  if (!salt || !hash) return undefined;
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    nonce: Buffer.from(salt, 'base64'),
    expected: Buffer.from(hash, 'base64'),
  };
}

/** Stands in for a missing password, so that the comparison takes the same time. */
const dummyHash = { ...cost, nonce: randomBytes(saltBytes), expected: randomBytes(hashBytes) };

async function runInSlot<T>(address: string, work: () => Promise<T>): Promise<T> {
  try {
    return await slots.run(address, work);
  } catch (error) {
    if (!(error instanceof TooManyWaiting)) throw error;
    throw new Refusal('rate_limited', 'Too many people are signing in.', { retryInSeconds: 5 });
  }
}

/** Normalized, because keyboards encode the same character differently. */
const message = (password: string) => ({ message: password.normalize('NFKC') });

const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

export const minPassword = 12;
/** Bounds the cost of hashing. */
const maxPassword = 500;

const minDistinct = 5;
const minCommonWord = 4;
const maxAroundOwnWord = 6;

/** Sequences of neighboring keys, which make weak passwords forwards and backwards. */
const rows = '01234567890 abcdefghijklmnopqrstuvwxyz qwertyuiop qwertzuiop asdfghjkl zxcvbnm'.split(
  ' ',
);

/** Returns why a new password is refused, or undefined if it is strong enough. */
export function validatePassword(password: string, about: { email: string; name: string }) {
  const length = [...password].length;
  if (length < minPassword) return `Use ${minPassword} characters or more.`;
  if (length > maxPassword) return `Use at most ${maxPassword} characters.`;
  if (isCommon(password)) return 'This password is too easy to guess. Choose another.';
  if (isAbout(password, about))
    return 'This password is too close to your name or email. Choose another.';
  return undefined;
}

function isCommon(password: string): boolean {
  const lower = password.toLowerCase();
  if (commonPasswords.has(lower) || new Set(lower).size < minDistinct) return true;
  if (isRun(lower)) return true;
  const word = unleet(lower).replace(/[^a-z]/g, '');
  return isRepeated(word) || isRepeated(lower.replace(/[^a-z]/g, ''));
}

/** One common word, repeated any number of times. The caller has removed digits and signs. */
function isRepeated(letters: string): boolean {
  for (let length = minCommonWord; length <= letters.length; length++) {
    if (letters.length % length !== 0) continue;
    const word = letters.slice(0, length);
    if (commonWords.has(word) && word.repeat(letters.length / length) === letters) return true;
  }
  return false;
}

/** Mostly neighboring keys: `1234567890qwe` has two jumps. */
function isRun(text: string): boolean {
  let jumps = 0;
  for (let at = 1; at < text.length; at++) {
    const [one, next] = [text[at - 1]!, text[at]!];
    const isNeighbor =
      one === next || rows.some((row) => row.includes(one + next) || row.includes(next + one));
    if (!isNeighbor) jumps += 1;
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
  return own.some((word) => lower.includes(word) && lower.length - word.length <= maxAroundOwnWord);
}

const unleet = (text: string) =>
  text
    .replace(/0/g, 'o')
    .replace(/[1!|]/g, 'i')
    .replace(/3/g, 'e')
    .replace(/[4@]/g, 'a')
    .replace(/[5$]/g, 's')
    .replace(/7/g, 't');

/** Django's list of 20,000 leaked passwords (by Royce Williams), except passwords that the rules above refuse. */
const commonPasswords: ReadonlySet<string> = wordsOf(`
  1qaz2wsx3edc sojdlg123aljg pe#5gz29ptzmse 111222tianya startfinding 123qweasdzxc n8zgt5p0shw=
  megaparol12345 telechargement yfdbufnjh10305070 qazwsxedcrfv g13916055158 justinbieber
  qweasdzxc123 maprchem56458 5532361cnjqrf qazwsxedc123 international 1q2w3e4r5t6y7u professional
  0r968ji9ufj6 jundian2011xr leavemealone finalfantasy 123qwe123qwe zxcasdqwe123 demon1q2w3e4r
  jamesbond007 demon1q2w3e4r5t projectsadminx ichliebedich playstation3 sonyericsson 1qazxsw23edc
  john!20130605at1753 1q2w3e4r5t6y7u8i ihatethisgame s8ylpe9jdpvym qwegta13091990
  doomsayer.2.7mords.v seniseviyorum 010203040506 onedirection transformers 1q2w3e4r5t6y7u8i9o
  doomsayer.2.7mords.vv supernatural gfhjkmgfhjkm sonnenschein peanutbutter 1qaz2wsx3edc4rfv
  needforspeed migrationschool liverpool123 xtseo2011tdx playstation2 gettherefast ??????@mail.ru
  internazionale 102030405060 combat123654 ingodwetrust christopher1 sdf7asdf6asdg8df ghhh47hj7649
  zmx870919123 inactive1996aug lydcc20091314 jesuslovesme avrillavigne ilovemyfamily counterstrike
  159753159753 stratocaster dfg5fhg5vgfh1 123admin321a googletester hawkesbury93 qazwsxedcrfvtgb
  qazxswedcvfr yemi19900911 123456789qaz jkiuztdftl57 xantria10315 starwarsfan10 hannahmontana
  familiyafamiliya vitor1268123 m01759766727 weronika1992 neworleans12345 cookiemonster
  natiichen999 ghbdtnrfrltkf 520love101182 kartoffelpuffer lightpower12345 stefangreil1983
  total12scherz edwardcullen qwe123qwe123 cosmopolitan somanypickles27 michaeljackson zaq1xsw2cde3
  minecraft123 leliane50934 moderncombat marek14michal przyjaciolki laurel12creek residentevil
  yandi20080527 ezekiel11991 arabella24630 heterosexual manchesterunited sebastian106
  knackwurst8853 fallen_angel
`);

/** Words that stay weak with digits and signs around them, or repeated. */
const commonWords: ReadonlySet<string> = wordsOf(`
  access admin administrator andrew asdfghjkl askback autumn azerty banana baseball batman
  bonjour changeme charlie cheese computer contrasena cookie default
  dragon facebook february feedback flower football freedom friday geheim george ginger google
  guest hallo hello helloworld hockey hunter iloveyou internet january jennifer jordan killer
  letmein linkedin login lovely loveyou master matrix michael monday monkey motdepasse mypassword
  orange parola passw password passwort pepper princess purple qwerty qwertyuiop qwertz root
  samsung secret shadow silver soccer spring starwars summer sunshine superman survey temp
  temppassword test testing thepassword trustno user username welcome whatever willkommen winter
  zxcvbnm
`);

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((word) => word !== ''));
}
