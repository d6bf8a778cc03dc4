import { domainToASCII } from 'node:url';

const maxAddressLength = 254;
const maxLocalPartLength = 64;

export type Mailbox = { name: string | null; address: string };

/**
 * Returns the address as it is mailed, or undefined if it is invalid. Stricter than the standard: no quoted local parts,
 * comments, address literals or domains without a dot. An international domain is mailed in its ASCII form. A
 * non-ASCII local part is rejected, because it needs SMTPUTF8 on every server on the way.
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
 * Returns the address as it is stored and shown: as written, but with an international domain in its ASCII form. The
 * result is ASCII, so that Postgres and this code agree on its lower case.
 */
export function normalizeEmail(text: string): string | undefined {
  const mailed = mailableAddress(text);
  const written = text.trim();
  return mailed && isAscii(written) ? written : mailed;
}

const isAscii = (text: string) => /^[\x21-\x7e]*$/.test(text);

/** Key for comparing addresses, including invalid ones. */
export const addressKey = (text: string) => (mailableAddress(text) ?? text.trim()).toLowerCase();

/**
 * A case-insensitive regular expression for Postgres and JavaScript that finds an address in text or JSON, but not as
 * part of a longer address.
 */
export const addressPattern = (key: string) =>
  `(?:(?<![a-z0-9._%+-])|(?<=\\\\[bfnrt]))${key.replace(/[^a-z0-9]/g, '\\$&')}(?![a-z0-9-]|\\.[a-z0-9])`;

export const isMailable = (text: string) => mailableAddress(text) !== undefined;

/** Lower case, or undefined if it is not a public domain name. */
function asciiDomain(text: string): string | undefined {
  if (!domainLetters.test(text)) return undefined;
  const ascii = domainToASCII(text.normalize('NFC')).toLowerCase();
  return domainForm.test(ascii) ? ascii : undefined;
}

const domainLetters = /^[\p{L}\p{M}\p{N}.-]+$/u;
// At least two labels, and the last one is not a number: 10.0.0.1 is not a domain.
const domainForm =
  /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?=[a-z0-9-]*[a-z])[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
