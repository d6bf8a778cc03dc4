import { Resolver as Asking } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { deadline } from '../../lib/async/deadline.ts';

/** What DNS says about one name and one type. A server that fails is an answer too. */
export type DnsAnswer<T> =
  | { kind: 'found'; records: T[] }
  /** The name exists, without a record of this type. */
  | { kind: 'nothing' }
  | { kind: 'no_name' }
  | { kind: 'failed'; why: string };

export type MailExchange = { exchange: string; priority: number };

export type Resolver = {
  txt: (name: string) => Promise<DnsAnswer<string>>;
  mx: (name: string) => Promise<DnsAnswer<MailExchange>>;
  a: (name: string) => Promise<DnsAnswer<string>>;
  aaaa: (name: string) => Promise<DnsAnswer<string>>;
  /** The names of an address. */
  ptr: (address: string) => Promise<DnsAnswer<string>>;
};

const patienceMs = 3000;
/** Of one try; a second one still fits, for what got lost on the way. */
const tryMs = 1200;

type ResolverOptions = {
  /** `address:port`; without it, the servers that this machine is set to. */
  server?: string | undefined;
  timeoutMs?: number;
};

/** Asks DNS. The same question is asked once, and no answer takes longer than the time for it. */
export function createResolver({ server, timeoutMs = patienceMs }: ResolverOptions = {}): Resolver {
  const asked = new Map<string, Promise<DnsAnswer<never>>>();
  const ask = <T>(type: string, name: string, query: Query<T>): Promise<DnsAnswer<T>> => {
    const question = `${type} ${name.toLowerCase()}`;
    const asking = asked.get(question) ?? lookUp(query, { server, timeoutMs });
    asked.set(question, asking as Promise<DnsAnswer<never>>);
    return asking as Promise<DnsAnswer<T>>;
  };
  return {
    txt: (name) =>
      ask('TXT', name, async (dns) => (await dns.resolveTxt(name)).map((parts) => parts.join(''))),
    mx: (name) =>
      ask('MX', name, async (dns) =>
        (await dns.resolveMx(name)).map(({ exchange, priority }) => ({ exchange, priority })),
      ),
    a: (name) => ask('A', name, (dns) => dns.resolve4(name)),
    aaaa: (name) => ask('AAAA', name, (dns) => dns.resolve6(name)),
    ptr: (address) => ask('PTR', address, (dns) => dns.resolvePtr(reverseName(address))),
  };
}

type Query<T> = (dns: Asking) => Promise<T[]>;

async function lookUp<T>(
  query: Query<T>,
  { server, timeoutMs }: { server: string | undefined; timeoutMs: number },
): Promise<DnsAnswer<T>> {
  // One of its own: giving up one question must not give up the others.
  const dns = new Asking({ timeout: Math.min(tryMs, timeoutMs), tries: 2 });
  const limit = deadline(timeoutMs, () => dns.cancel());
  try {
    if (server) dns.setServers([server]);
    return { kind: 'found', records: await query(dns) };
  } catch (error) {
    return answerOf((error as NodeJS.ErrnoException).code ?? String(error), timeoutMs);
  } finally {
    limit.clear();
  }
}

function answerOf(code: string, timeoutMs: number): DnsAnswer<never> {
  if (code === 'ENOTFOUND') return { kind: 'no_name' };
  if (code === 'ENODATA') return { kind: 'nothing' };
  const late = `no name server answered within ${timeoutMs / 1000} seconds`;
  return {
    kind: 'failed',
    why: reasons[code] ?? (lateCodes.has(code) ? late : `DNS says ${code}`),
  };
}

const lateCodes = new Set(['ETIMEOUT', 'ECANCELLED']);
const reasons: Readonly<Record<string, string>> = {
  ESERVFAIL: 'its name servers fail (SERVFAIL): they are away, or its DNSSEC is broken',
  EREFUSED: 'the name server refuses to answer (REFUSED)',
  ECONNREFUSED: 'the name server cannot be reached',
  EBADRESP: 'the name server answers something that is not DNS',
  EBADNAME: 'it is not a name that DNS can have',
};

/** Where DNS keeps the names of an address: `1.2.0.192.in-addr.arpa` for 192.0.2.1. */
export function reverseName(address: string): string {
  const bytes = ipaddr.process(address).toByteArray();
  if (bytes.length === 4) return `${bytes.reverse().join('.')}.in-addr.arpa`;
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${[...digits].reverse().join('.')}.ip6.arpa`;
}

/** The same answer with what its records come to. */
export const mapAnswer = <From, To>(
  answer: DnsAnswer<From>,
  read: (records: readonly From[]) => To[],
): DnsAnswer<To> =>
  answer.kind === 'found' ? { kind: 'found', records: read(answer.records) } : answer;

/** The addresses of a name, of both kinds. They failed only if there is none. */
export async function addressesOf(dns: Resolver, name: string): Promise<DnsAnswer<string>> {
  const [four, six] = await Promise.all([dns.a(name), dns.aaaa(name)]);
  const records = [four, six].flatMap((each) => (each.kind === 'found' ? each.records : []));
  if (records.length > 0) return { kind: 'found', records };
  return [four, six].find(({ kind }) => kind === 'failed') ?? four;
}
