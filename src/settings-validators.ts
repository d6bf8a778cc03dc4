import * as v from 'valibot';
import { validateDatabaseUrl } from './lib/db/db.ts';
import { isRange } from './lib/outbound/connect.ts';
import { mailableAddress } from './lib/smtp/address.ts';
import { readSmtpUrl } from './lib/smtp/settings.ts';
import { isPlainLine } from './lib/validation/parse.ts';

export const address = (...protocols: string[]) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => URL.canParse(text) && protocols.includes(new URL(text).protocol),
      `must be an address that begins with ${protocols.map(beginning).join(' or ')}`,
    ),
  );

const beginning = (protocol: string) => (protocol === 'mailto:' ? protocol : `${protocol}//`);

/** May contain several hosts. */
export const databaseUrl = v.pipe(
  v.string(),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed ? validateDatabaseUrl(dataset.value) : undefined;
    if (message) addIssue({ message });
  }),
);

export const role = v.picklist(['web', 'jobs'], 'must be web or jobs');
export type ProcessRole = v.InferOutput<typeof role>;

export const origin = v.pipe(
  address('http:', 'https:'),
  v.check((text) => {
    const url = URL.parse(text);
    if (!url) return true; // reported already
    const { username, pathname, search, hash } = url;
    return username === '' && /^\/*$/.test(pathname) && search === '' && hash === '';
  }, 'must be a scheme and a host such as https://feedback.example.com, without path or query'),
  v.transform((text) => new URL(text).origin),
);

export const bytes32 = v.pipe(
  v.string(),
  v.transform((text) => Buffer.from(text.trim(), 'base64')),
  v.check(
    (key) => key.length === 32,
    'must be base64 of 32 bytes, as `openssl rand -base64 32` prints',
  ),
);

export const listed = (separator: RegExp) =>
  v.pipe(
    v.string(),
    v.transform((text) => text.split(separator).map((item) => item.trim())),
    v.transform((items) => items.filter((item) => item !== '')),
  );

export const cidrs = v.pipe(
  listed(/[\s,]+/),
  v.everyItem(isRange, 'must be a list of CIDR ranges such as 10.0.0.0/8'),
);

export const token = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/, 'must be one word that is valid in a header name'),
);

/** A token for `Authorization: Bearer TOKEN`. */
export const bearer = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x7e]+$/, 'must be one word of visible ASCII characters'),
);

export const hostAndPort = v.pipe(
  v.string(),
  v.regex(/^(\[[0-9a-fA-F:.]+\]|[^:\s]+):\d{1,5}$/, 'must be host:port'),
  v.check(
    (text) => Number(/:(\d{1,5})$/.exec(text)?.[1] ?? 0) <= 65_535,
    'port must be at most 65535',
  ),
  v.transform((text) => {
    const at = text.lastIndexOf(':');
    return { host: text.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(text.slice(at + 1)) };
  }),
);

export const text = v.pipe(v.string(), v.minLength(1, 'must not be empty'));

export const smtpUrl = v.pipe(
  address('smtp:', 'smtps:'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || dataset.issues) return;
    for (const message of readSmtpUrl(dataset.value).complaints) addIssue({ message });
  }),
);

export const notifySocket = v.pipe(
  v.string(),
  v.regex(/^[/@]./, 'must be a path, or a name that begins with @'),
  v.check((path) => Buffer.byteLength(path) <= 107, 'must be at most 107 bytes'),
);

export const domain = v.pipe(
  v.string(),
  v.check((name) => mailableAddress(`bounce@${name}`) !== undefined, 'must be a domain name'),
);

export const selector = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/i, 'must be the name of a DNS entry'),
);

export const mailFrom = v.pipe(
  v.string(),
  v.transform((text) => {
    const [, name, address] = /^(?:"?([^"<>]*?)"?\s*<([^<>]+)>|.*)$/.exec(text.trim()) ?? [];
    return { name: name?.trim() || 'askback', address: address ?? text.trim() };
  }),
  v.check(
    ({ name, address }) => isPlainLine(name) && mailableAddress(address) !== undefined,
    'must be an address such as feedback@example.com, or Name <address>',
  ),
);

export type Environment = Readonly<Record<string, string | undefined>>;
export type ReadFile = (path: string) => string;

/** Reads settings from the environment, or from the file that NAME_FILE points to. Empty counts as not set. */
export function readValues(names: readonly string[], environment: Environment, readFile: ReadFile) {
  const values: Record<string, string> = {};
  const fromFiles: Record<string, string> = {};
  const complaints: string[] = [];
  for (const name of names) {
    const [value, path] = [environment[name], environment[`${name}_FILE`]];
    if (value && path) complaints.push(`${name}: must not be set together with ${name}_FILE`);
    if (value) values[name] = value;
    else if (path) {
      try {
        values[name] = fromFiles[name] = readFile(path).replace(/\r?\n$/, '');
      } catch (error) {
        complaints.push(`${name}_FILE: cannot be read: ${(error as Error).message}`);
      }
    }
  }
  return { values, fromFiles, complaints };
}
