import { oldestPostgres, type schemaState } from '../lib/db/migrate.ts';
import { judgePatchLevel } from '../lib/db/patch-level.ts';
import { httpAddress, isWildcardHost } from '../lib/http/http-address.ts';
import { extensionsNeeded, type ServerFacts } from './queries.ts';

const skewToWarnOfMs = 2000;
const skewToFailAtMs = 60_000;
const diskToWarnOfBytes = 1024 ** 3;
const diskToFailAtBytes = 100 * 1024 ** 2;

export function judgeServer(
  { version, major, read_only, folds }: Omit<ServerFacts, 'now' | 'extensions' | 'number'>,
  setting: string,
): Finding {
  if (major < oldestPostgres) {
    const message = `PostgreSQL ${version}: askback needs ${oldestPostgres} or newer`;
    return finding('database', 'fail', message);
  }
  if (read_only) {
    const message = `PostgreSQL ${version} is a read-only replica: ${setting} must name the primary`;
    return finding('database', 'fail', message);
  }
  if (!folds) {
    const message = 'the database lower-cases I to ı: create it again with another locale';
    return finding('database', 'fail', message);
  }
  return finding('database', 'ok', `PostgreSQL ${version} answers`);
}

export function judgeVersion({
  number,
  version,
}: Pick<ServerFacts, 'number' | 'version'>): Finding {
  const warning = judgePatchLevel(number);
  if (warning) return finding('version', 'warn', warning);
  return finding(
    'version',
    'ok',
    `PostgreSQL ${version} has all security fixes known to this askback`,
  );
}

export function judgeExtensions({ extensions }: { extensions: readonly string[] }): Finding {
  const missing = extensionsNeeded.filter((name) => !extensions.includes(name));
  if (missing.length === 0)
    return finding('extensions', 'ok', `${extensionsNeeded.join(', ')} are available`);
  const message = `${missing.join(', ')} cannot be installed: the server lacks its contrib modules`;
  return finding('extensions', 'fail', message);
}

export function judgeSchema({
  applied,
  missing,
  unknown,
}: Awaited<ReturnType<typeof schemaState>>): Finding {
  if (unknown.length > 0) {
    const message = `the database is newer than this askback: it has ${unknown.join(', ')}`;
    return finding('schema', 'fail', message);
  }
  if (missing.length === 0) return finding('schema', 'ok', `all ${applied} migrations are applied`);
  const count = missing.length === 1 ? '1 migration is' : `${missing.length} migrations are`;
  const message = `${count} missing: run \`askback migrate\`, or start \`askback serve\``;
  return finding('schema', 'warn', message);
}

export function judgeReporters(harmfulFunctions: number): Finding[] {
  if (harmfulFunctions === 0) return [];
  const message =
    'reporters can take locks that block the service, and write large objects: a Postgres administrator can prevent it, see What a reporter may do in ops/reports.md';
  return [finding('reporters', 'warn', message)];
}

export function judgeClock(at: { before: Date; database: Date; after: Date }): Finding {
  const middle = (at.before.getTime() + at.after.getTime()) / 2;
  const skew = Math.round(at.database.getTime() - middle);
  const difference = `${Math.abs(skew)} ms ${skew < 0 ? 'behind' : 'ahead of'} this machine's`;
  if (Math.abs(skew) >= skewToFailAtMs) {
    return finding('clock', 'fail', `the database's clock is ${difference}: sync both with NTP`);
  }
  const status = Math.abs(skew) >= skewToWarnOfMs ? 'warn' : 'ok';
  return finding('clock', status, `the database's clock is ${difference}`);
}

export function judgeDisk({ path, freeBytes }: { path: string; freeBytes: number }): Finding {
  const message = `${Math.floor(freeBytes / 1024 ** 2)} MiB free in ${path}`;
  if (freeBytes < diskToFailAtBytes) return finding('disk', 'fail', message);
  return finding('disk', freeBytes < diskToWarnOfBytes ? 'warn' : 'ok', message);
}

/** `isLocal`: links only work on this machine. */
export function judgePublicUrl(
  publicUrl: string | null,
  { host, port, isLocal, links }: { host: string; port: number; isLocal: boolean; links: string },
): Finding {
  const judge = findingAbout('public URL');
  if (publicUrl?.startsWith('https:')) return judge('ok', publicUrl);
  if (publicUrl && isLocal) return judge('ok', `${publicUrl} works on this machine only`);
  if (publicUrl) return judge('warn', `${publicUrl} is not https: responses are not encrypted`);
  if (isWildcardHost(host)) {
    const address = httpAddress(host, port);
    return judge('warn', `links in emails would start with ${address}: set ASKBACK_PUBLIC_URL`);
  }
  const message = `ASKBACK_PUBLIC_URL is not set: links start with ${links}`;
  return judge(isLocal ? 'ok' : 'warn', message);
}

export const warnOfReplica = (problem: string | undefined): string | undefined =>
  problem && `ASKBACK_READ_DATABASE_URL ${problem}; reads go to the primary`;

export type DnsRecord = {
  action: 'add' | 'change';
  name: string;
  type: 'TXT';
  value: string;
};

export type Finding = {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
  records?: DnsRecord[];
};

export const finding = (
  name: string,
  status: Finding['status'],
  message: string,
  records: DnsRecord[] = [],
): Finding => (records.length > 0 ? { name, status, message, records } : { name, status, message });

export const findingAbout =
  (name: string) => (status: Finding['status'], message: string, records?: DnsRecord[]) =>
    finding(name, status, message, records);

/** Zone file syntax, in strings of at most 255 characters: `add: _dmarc.example.com TXT "v=DMARC1; p=none"`. */
export function recordLine({ action, name, type, value }: DnsRecord): string {
  const strings = value.match(/.{1,255}/g) ?? [''];
  const quoted = strings.map((string) => `"${string.replace(/["\\]/g, '\\$&')}"`);
  return `${action}: ${name} ${type} ${quoted.join(' ')}`;
}
