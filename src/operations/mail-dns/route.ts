import { type Finding, finding } from '../finding.ts';
import { addressesOf, type DnsAnswer, type Resolver, reverseName } from './resolver.ts';

/**
 * Judges the route of mails to a domain. Many servers take no mail from a domain that they cannot answer. `what`
 * says in words what arrives there: bounces, or replies to the sender.
 */
export async function examineMx(dns: Resolver, domain: string, what: string): Promise<Finding> {
  const name = `MX ${domain}`;
  const answer = await dns('MX', domain);
  if (answer.kind === 'failed') return finding(name, 'fail', `cannot be looked up: ${answer.why}`);
  if (answer.kind === 'no_name') {
    return finding(name, 'fail', `the domain does not exist in DNS: ${what} arrive nowhere`);
  }
  const exchanges = answer.kind === 'found' ? answer.records.map((each) => each.exchange) : [];
  if (exchanges.some((exchange) => exchange === '' || exchange === '.')) {
    return finding(name, 'fail', `the domain says that it takes no mail: ${what} are lost`);
  }
  const hosts = exchanges.length > 0 ? exchanges : [domain];
  const names = hosts.join(', ');
  const addresses = best(await Promise.all(hosts.map((host) => addressesOf(dns, host))));
  if (addresses.kind === 'failed') {
    return finding(name, 'fail', `${names} cannot be looked up: ${addresses.why}`);
  }
  if (exchanges.length === 0) return judgeWithoutMx(name, what, addresses);
  if (addresses.kind !== 'found') {
    return finding(name, 'fail', `${names} has no address: ${what} arrive nowhere`);
  }
  return finding(name, 'ok', `${what} go to ${names}`);
}

/** One host with an address is enough; without any, a failed lookup leaves it open. */
const best = (answers: readonly DnsAnswer<string>[]) =>
  answers.find(({ kind }) => kind === 'found') ??
  answers.find(({ kind }) => kind === 'failed') ??
  answers[0]!;

function judgeWithoutMx(name: string, what: string, addresses: DnsAnswer<string>): Finding {
  if (addresses.kind !== 'found') {
    return finding(name, 'fail', `there is neither MX nor address: ${what} arrive nowhere`);
  }
  const message = `there is no MX record: ${what} go to ${addresses.records.join(', ')} itself, if a mail server listens there`;
  return finding(name, 'warn', message);
}

/** An address that mails leave from needs a name that leads back to it. */
export async function examinePtr(dns: Resolver, ip: string): Promise<Finding> {
  const name = `PTR ${ip}`;
  const answer = await dns('PTR', reverseName(ip));
  if (answer.kind === 'failed') return finding(name, 'warn', `cannot be looked up: ${answer.why}`);
  if (answer.kind !== 'found') {
    const message =
      'the address has no name, and many servers refuse such senders: its provider sets one';
    return finding(name, 'fail', message);
  }
  const hosts = await Promise.all(
    answer.records.map(async (host) => ({ host, addresses: await addressesOf(dns, host) })),
  );
  const confirmed = hosts.find(
    ({ addresses }) => addresses.kind === 'found' && addresses.records.includes(ip),
  );
  if (confirmed) return finding(name, 'ok', `${confirmed.host}, and back`);
  const names = answer.records.join(', ');
  const message = `its name ${names} does not lead back to it: give that name this address`;
  return finding(name, 'fail', message);
}
