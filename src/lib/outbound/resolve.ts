import { lookup, Resolver } from 'node:dns/promises';
import { withinMs } from '../async/deadline.ts';
import { OutboundFailure } from './failures.ts';

/** The addresses of a name. It fails when there are none. */
export type Resolve = (name: string) => Promise<string[]>;

const queryTimeoutMs = 1_500;
const resolveTimeoutMs = 4_000;
const systemLookupsAtOnce = 2;

type ResolveOptions = {
  systemNames: boolean;
  /** What asks the name servers. */
  resolver?: Pick<Resolver, 'resolve4' | 'resolve6' | 'cancel'>;
  systemLookup?: (name: string) => Promise<{ address: string }[]>;
};

/**
 * Asks the name servers directly: a system lookup occupies one of the process's few threads for as
 * long as a hostile name server likes. Names that only the machine's own files know are looked up
 * the system's way, a few at a time, and only where private targets are allowed at all.
 */
export function createResolve({
  systemNames,
  resolver = new Resolver({ timeout: queryTimeoutMs, tries: 2, maxTimeout: queryTimeoutMs }),
  systemLookup = (name) => lookup(name, { all: true }),
}: ResolveOptions) {
  let systemLookups = 0;

  async function systemAddresses(name: string): Promise<string[]> {
    if (!systemNames || systemLookups >= systemLookupsAtOnce) return [];
    systemLookups += 1;
    const found = await systemLookup(name).catch(() => []);
    systemLookups -= 1;
    return found.map(({ address }) => address);
  }

  async function ask(name: string): Promise<string[]> {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    return addresses.length > 0 ? addresses : systemAddresses(name);
  }

  const resolve: Resolve = async (name) => {
    const addresses = await withinMs(ask(name), resolveTimeoutMs, () => []);
    if (addresses.length > 0) return addresses;
    throw new OutboundFailure('dns', 'the host name does not resolve');
  };

  return { resolve, close: () => resolver.cancel() };
}
