import { domainToASCII } from 'node:url';

const maxAddressLength = 254;
const maxLocalPartLength = 64;

/** A contact or sender as mail shows it. Never joined into one string, which would have to be parsed again. */
export type Mailbox = { name: string | null; address: string };

/**
 * The form an address is mailed in, or undefined when there is none.
 *
 * Stricter than the standard, which allows forms that are never meant: no quoted local parts, no comments,
 * no address literals, no domain without a dot. An international domain is mailed in its
 * ASCII form, which every server takes. A local part beyond ASCII is refused: it needs SMTPUTF8 on
 * every server on the way, and a mail that is lost half way helps no contact.
 */
export function mailableAddress(text: string): string | undefined {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  const local = trimmed.slice(0, Math.max(at, 0));
  const domain = asciiDomain(trimmed.slice(at + 1));
  if (!domain || local.length > maxLocalPartLength || !localForm.test(local)) return undefined;
  const address = `${local}@${domain}`;
  return address.length <= maxAddressLength ? address : undefined;
}

const localForm = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;

/**
 * The form an address is stored and shown in: as it was written, but an international domain in its ASCII
 * form, so that both spellings count as the same contact. It is ASCII, so that Postgres and this code agree
 * on its lower case.
 */
export function normalizeEmail(text: string): string | undefined {
  const mailed = mailableAddress(text);
  const written = text.trim();
  return mailed && isAscii(written) ? written : mailed;
}

const isAscii = (text: string) => /^[\x21-\x7e]*$/.test(text);

/** The key that addresses are compared by, also unchecked ones. */
export const addressKey = (text: string) => (mailableAddress(text) ?? text.trim()).toLowerCase();

/**
 * A regular expression, for Postgres and for JavaScript, that finds an address in a text or in JSON, but not as the end
 * or the beginning of another one. To be used without regard to case.
 */
export const addressPattern = (key: string) =>
  `(?:(?<![a-z0-9._%+-])|(?<=\\\\[bfnrt]))${key.replace(/[^a-z0-9]/g, '\\$&')}(?![a-z0-9-]|\\.[a-z0-9])`;

/** Whether mail can be addressed to it: the one rule for every address. */
export const isMailable = (text: string) => mailableAddress(text) !== undefined;

/** Lower case; undefined for what is not a name in the public domain name system. */
function asciiDomain(text: string): string | undefined {
  if (!domainLetters.test(text)) return undefined;
  const ascii = domainToASCII(text.normalize('NFC')).toLowerCase();
  return domainForm.test(ascii) ? ascii : undefined;
}

const domainLetters = /^[\p{L}\p{M}\p{N}.-]+$/u;
// At least two labels, the last of which is not a number: 10.0.0.1 is no domain.
const domainForm =
  /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?=[a-z0-9-]*[a-z])[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
