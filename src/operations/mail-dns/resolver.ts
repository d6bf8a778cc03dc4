import { Resolver as NodeResolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import type { DNSResolver } from 'mailauth';
import { deadline } from '../../lib/async/deadline.ts';

/** The answer of DNS for one name and one type. A server that fails is an answer too. */
export type DnsAnswer<T> =
  | { kind: 'found'; records: T[] }
  /** The name exists, without a record of this type. */
  | { kind: 'nothing' }
  | { kind: 'no_name' }
  | { kind: 'failed'; why: string };

type MailExchange = { exchange: string; priority: number };
type Records = {
  A: string;
  AAAA: string;
  CNAME: string;
  MX: MailExchange;
  PTR: string;
  TXT: string;
};
export type RecordType = keyof Records;

export type Resolver = <T extends RecordType>(
  type: T,
  name: string,
) => Promise<DnsAnswer<Records[T]>>;

const patienceMs = 3000;
/** Of one try. A second one still fits, for a packet that got lost. */
const tryMs = 1200;

type ResolverOptions = {
  /** `address:port`; without it, the servers that this machine is set to. */
  server?: string | undefined;
  timeoutMs?: number;
};

/** Sends each question once, and answers within the timeout. */
export function createResolver({ server, timeoutMs = patienceMs }: ResolverOptions = {}): Resolver {
  const answers = new Map<string, Promise<DnsAnswer<unknown>>>();
  const resolve = (type: RecordType, name: string) => {
    const question = `${type} ${name.toLowerCase()}`;
    const answer = answers.get(question) ?? query(type, name, { server, timeoutMs });
    answers.set(question, answer);
    return answer;
  };
  return resolve as Resolver;
}

async function query(
  type: RecordType,
  name: string,
  { server, timeoutMs }: { server: string | undefined; timeoutMs: number },
): Promise<DnsAnswer<unknown>> {
  // One for each question: `cancel` ends all questions of a resolver.
  const dns = new NodeResolver({ timeout: Math.min(tryMs, timeoutMs), tries: 2 });
  const limit = deadline(timeoutMs, () => dns.cancel());
  try {
    if (server) dns.setServers([server]);
    const records = type === 'TXT' ? await texts(dns, name) : await dns.resolve(name, type);
    return { kind: 'found', records: records as unknown[] };
  } catch (error) {
    return failure((error as NodeJS.ErrnoException).code ?? String(error), timeoutMs);
  } finally {
    limit.clear();
  }
}

const texts = async (dns: NodeResolver, name: string) =>
  (await dns.resolveTxt(name)).map((parts) => parts.join(''));

function failure(code: string, timeoutMs: number): DnsAnswer<never> {
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

/** The addresses of a name, of both kinds. The lookup failed only if there is none. */
export async function addressesOf(dns: Resolver, name: string): Promise<DnsAnswer<string>> {
  const [four, six] = await Promise.all([dns('A', name), dns('AAAA', name)]);
  const records = [four, six].flatMap((each) => (each.kind === 'found' ? each.records : []));
  if (records.length > 0) return { kind: 'found', records };
  return [four, six].find(({ kind }) => kind === 'failed') ?? four;
}

/** The name under which DNS keeps the names of an address: `1.2.0.192.in-addr.arpa` for 192.0.2.1. */
export function reverseName(address: string): string {
  const bytes = ipaddr.process(address).toByteArray();
  if (bytes.length === 4) return `${bytes.reverse().join('.')}.in-addr.arpa`;
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${[...digits].reverse().join('.')}.ip6.arpa`;
}

/** The resolver in the form of Node's `dns.resolve`, which mailauth calls. */
export const nodeResolve =
  (dns: Resolver): DNSResolver =>
  async (name, type) => {
    const answer = await dns(type as RecordType, name);
    if (answer.kind === 'found') return answer.records as string[];
    if (answer.kind === 'failed') throw new Error(`${name} cannot be looked up: ${answer.why}`);
    const code = answer.kind === 'nothing' ? 'ENODATA' : 'ENOTFOUND';
    throw Object.assign(new Error(`${name} is not in DNS`), { code });
  };
