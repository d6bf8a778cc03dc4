import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { Refusal } from '../errors.ts';
import { createSemaphore, TooManyWaiting } from '../lib/async/semaphore.ts';
import { normalizePassword } from './password.rules.ts';

/** OWASP's first choice for argon2id: 19 MiB, twice. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const hashBytes = 32;
const saltBytes = 16;

const hashForm =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([\w+/]{11,88})\$([\w+/]{22,88})$/;

const derive = promisify(argon2);

/**
 * Each hash keeps a processor busy for some hundredths of a second, in a thread: half of the processors at most, so
 * that requests go on. Network addresses take turns.
 */
const slots = createSemaphore({
  slots: Math.max(1, Math.floor(availableParallelism() / 2)),
  maxWaitingPerGroup: 100,
});

/** Passwords that are checked for requests of a network address. */
type OnBehalfOf = { address: string };

export async function hashPassword(password: string, { address }: OnBehalfOf): Promise<string> {
  const nonce = randomBytes(saltBytes);
  const hash = await inTurn(address, () =>
    derive('argon2id', { ...message(password), nonce, ...cost, tagLength: hashBytes }),
  );
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${text(nonce)}$${text(hash)}`;
}

/**
 * Whether the password is the stored one. Without a stored one it takes the same time, so that the time does not show
 * whether there is an account.
 */
export async function checkPassword(
  stored: string | null,
  password: string,
  { address }: OnBehalfOf,
): Promise<boolean> {
  const { nonce, expected, ...costs } = readHash(stored) ?? standIn;
  const tagLength = expected.length;
  const hash = await inTurn(address, () =>
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

/** What is compared with where there is no password. */
const standIn = {
  ...cost,
  nonce: randomBytes(saltBytes),
  expected: randomBytes(hashBytes),
};

async function inTurn<T>(address: string, work: () => Promise<T>): Promise<T> {
  try {
    return await slots.run(address, work);
  } catch (error) {
    if (!(error instanceof TooManyWaiting)) throw error;
    throw new Refusal('rate_limited', 'Too many sign-ins wait at once.', { retryInSeconds: 5 });
  }
}

const message = (password: string) => ({ message: normalizePassword(password) });

const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
