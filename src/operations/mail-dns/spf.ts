import ipaddr from 'ipaddr.js';
import { addressesOf, type DnsAnswer, type Resolver } from './resolver.ts';
import { mostLookups, type SpfOutcome } from './spf.rules.ts';
import { expandMacros, type SpfSender } from './spf-macros.ts';
import { readSpfRecords, type SpfMechanism, type SpfRecord } from './spf-record.ts';

const mostVoidLookups = 2;
const mostExchanges = 10;
/** Without a sender the walk goes on past the limit, to count; a record without end must end somewhere. */
const mostCounted = 60;

const byQualifier = { '+': 'pass', '-': 'fail', '~': 'softfail', '?': 'neutral' } as const;

type SpfWalk = {
  dns: Resolver;
  /** Null when the whole record is to be walked. */
  sender: SpfSender | null;
  lookups: number;
  voids: number;
};

/** Whether the records of the sender's domain let its address send in its name (RFC 7208). */
export function checkSpf(dns: Resolver, sender: SpfSender): Promise<SpfOutcome> {
  return evaluate({ dns, sender, lookups: 0, voids: 0 }, sender.domain);
}

/** How many lookups a record costs a receiver whose sender it does not name, and what is wrong on the way. */
export async function measureSpf(dns: Resolver, domain: string) {
  const walk: SpfWalk = { dns, sender: null, lookups: 0, voids: 0 };
  const outcome = await evaluate(walk, domain);
  return { ...outcome, lookups: walk.lookups };
}

async function evaluate(walk: SpfWalk, domain: string): Promise<SpfOutcome> {
  const found = await findRecord(walk.dns, domain);
  if ('result' in found) return found;
  const { mechanisms, redirect, mistakes } = found.record;
  if (mistakes.length > 0)
    return permerror(`the record of ${domain} is wrong: ${mistakes.join('; ')}`);
  for (const mechanism of mechanisms) {
    const match = await matches(walk, domain, mechanism);
    if (typeof match === 'object') return match;
    if (mechanism.name === 'all' && !match) break; // no receiver gets to the terms after it
    if (match) return { result: byQualifier[mechanism.qualifier], why: null };
  }
  if (!redirect || mechanisms.some(({ name }) => name === 'all')) {
    return { result: 'neutral', why: null };
  }
  const target = targetOf(walk, domain, redirect);
  if (target === undefined) return { result: 'neutral', why: null };
  const late = spend(walk);
  if (late) return late;
  const outcome = await evaluate(walk, target);
  return outcome.result === 'none' ? permerror(`${target} has no SPF record`) : outcome;
}

async function findRecord(
  dns: Resolver,
  domain: string,
): Promise<SpfOutcome | { record: SpfRecord }> {
  const answer = await dns.txt(domain);
  if (answer.kind === 'failed') return temperror(domain, answer.why);
  const records = answer.kind === 'found' ? readSpfRecords(answer.records) : [];
  if (records.length > 1) return permerror(`${domain} has ${records.length} SPF records`);
  const [record] = records;
  return record ? { record } : { result: 'none', why: `${domain} has no SPF record` };
}

const permerror = (why: string): SpfOutcome => ({ result: 'permerror', why });
const temperror = (name: string, why: string): SpfOutcome => ({
  result: 'temperror',
  why: `${name} cannot be looked up: ${why}`,
});

/** Takes one of the lookups that a receiver has for one mail. */
function spend(walk: SpfWalk): SpfOutcome | undefined {
  walk.lookups += 1;
  const most = walk.sender ? mostLookups : mostCounted;
  return walk.lookups > most ? permerror(`it takes more than ${most} lookups`) : undefined;
}

/** The domain that a term is about; undefined when it needs a sender and there is none. */
function targetOf(walk: SpfWalk, domain: string, value: string | null): string | undefined {
  if (value === null) return domain;
  if (walk.sender) return expandMacros(value, domain, walk.sender);
  return value.includes('%') ? undefined : value;
}

async function matches(
  walk: SpfWalk,
  domain: string,
  mechanism: SpfMechanism,
): Promise<boolean | SpfOutcome> {
  const { name, value } = mechanism;
  if (name === 'all') return walk.sender !== null;
  if (name === 'ip4' || name === 'ip6') return covers(value ?? '', mechanism, walk.sender);
  const late = spend(walk);
  if (late) return late;
  const target = targetOf(walk, domain, value);
  if (target === undefined || name === 'ptr') return false;
  if (name === 'include') return await includes(walk, target);
  if (name === 'exists') return await exists(walk, target);
  return name === 'a'
    ? await namesSender(walk, target, mechanism)
    : await receivesForSender(walk, target, mechanism);
}

async function includes(walk: SpfWalk, target: string): Promise<boolean | SpfOutcome> {
  const outcome = await evaluate(walk, target);
  if (outcome.result === 'none')
    return permerror(`${target}, which it includes, has no SPF record`);
  if (outcome.result === 'permerror' || outcome.result === 'temperror') return outcome;
  return outcome.result === 'pass';
}

async function exists(walk: SpfWalk, target: string): Promise<boolean | SpfOutcome> {
  const answer = await walk.dns.a(target);
  return countVoid(walk, answer, target) ?? (answer.kind === 'found' && walk.sender !== null);
}

async function namesSender(walk: SpfWalk, target: string, mechanism: SpfMechanism) {
  const answer = await addressesOf(walk.dns, target);
  return countVoid(walk, answer, target) ?? anyCovers(answer, mechanism, walk.sender);
}

async function receivesForSender(walk: SpfWalk, target: string, mechanism: SpfMechanism) {
  const answer = await walk.dns.mx(target);
  const failure = countVoid(walk, answer, target);
  if (failure) return failure;
  const exchanges = answer.kind === 'found' ? answer.records : [];
  if (exchanges.length > mostExchanges) {
    return permerror(`${target} has more than ${mostExchanges} mail exchangers`);
  }
  const answers = await Promise.all(
    exchanges.map(({ exchange }) => addressesOf(walk.dns, exchange)),
  );
  return answers.some((each) => anyCovers(each, mechanism, walk.sender));
}

/** Receivers give up on records that send them looking for what is not there. */
function countVoid(
  walk: SpfWalk,
  answer: DnsAnswer<unknown>,
  target: string,
): SpfOutcome | undefined {
  if (answer.kind === 'failed') return temperror(target, answer.why);
  if (answer.kind === 'found') return undefined;
  walk.voids += 1;
  return walk.voids > mostVoidLookups
    ? permerror(
        `more than ${mostVoidLookups} of its names have nothing to find, ${target} the last`,
      )
    : undefined;
}

const anyCovers = (answer: DnsAnswer<string>, mechanism: SpfMechanism, sender: SpfSender | null) =>
  answer.kind === 'found' && answer.records.some((each) => covers(each, mechanism, sender));

function covers(
  address: string,
  { bits4, bits6 }: SpfMechanism,
  sender: SpfSender | null,
): boolean {
  if (!sender) return false;
  const [network, own] = [ipaddr.parse(address), ipaddr.process(sender.ip)];
  if (network.kind() !== own.kind()) return false;
  return own.match(network, network.kind() === 'ipv4' ? bits4 : bits6);
}
