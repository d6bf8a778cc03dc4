import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { isForbidden } from '../lib/outbound/addresses.ts';
import { mailableAddress } from '../lib/smtp/address.ts';
import { readSmtpUrl, type SmtpSettings } from '../lib/smtp/settings.ts';
import type { Config } from '../settings/config.ts';
import { examineLogin } from './examine-login.ts';
import { examineOneClick } from './examine-one-click.ts';
import { type Finding, finding } from './finding.ts';
import { judgeDkim, unsigned } from './mail-dns/dkim.rules.ts';
import { compareDkim, dkimRecordFor } from './mail-dns/dkim-record.ts';
import { type DmarcWalk, judgeAlignment, judgeDmarc } from './mail-dns/dmarc.rules.ts';
import { walkDmarc } from './mail-dns/dmarc.ts';
import { addressesOf, mapAnswer, type Resolver } from './mail-dns/resolver.ts';
import { judgeMx, judgePtr } from './mail-dns/route.rules.ts';
import { judgeSpf, type MailOrigins } from './mail-dns/spf.rules.ts';
import { checkSpf, measureSpf } from './mail-dns/spf.ts';
import { readSpfRecords } from './mail-dns/spf-record.ts';

/** What to examine in addition to the settings. */
export type MailQuestions = {
  /** Addresses that surveys are sent from. */
  senders: readonly string[];
  /** The IP addresses that mails leave this network from, where the operator knows them. */
  sendsFrom: readonly string[];
  publicUrl: string | null;
};

type MailSettings = Pick<Config, 'smtpUrl' | 'bounceDomain' | 'dkim'>;
type ExamineMailTools = { dns: Resolver; settings: MailSettings };

const mostDomains = 20;

/** Whether mails of this deployment arrive, as far as DNS, the mail server and the public address decide it. */
export async function examineMail(
  tools: ExamineMailTools,
  questions: MailQuestions,
): Promise<Finding[]> {
  const { smtpUrl } = tools.settings;
  const smtp = smtpUrl ? readSmtpUrl(smtpUrl).settings : null;
  const here = [
    smtp ? examineLogin(smtp) : noServer(),
    ...(smtp && questions.publicUrl ? [examineOneClick(questions.publicUrl)] : []),
  ];
  const domains = domainsOf(questions.senders);
  const some = domains.slice(0, mostDomains);
  if (!smtp && domains.length === 0) return await Promise.all(here);
  const origins = await findOrigins(tools.dns, questions.sendsFrom, smtp);
  const groups = await Promise.all([
    Promise.all(here),
    examineSigning(tools),
    examineReturnPaths({ ...tools, origins }, some),
    ...some.map((domain) => examineSender(tools, domain)),
    Promise.all(origins.certain ? origins.ips.map((ip) => examineName(tools.dns, ip)) : []),
  ]);
  return [...groups.flat(), ...complainOfCount(domains.length)];
}

const noServer = () =>
  finding(
    'SMTP',
    'warn',
    'no mail server is configured: mails reach no contact and stay in the built-in mailbox',
  );

function complainOfCount(count: number): Finding[] {
  if (count === 0) {
    const message = 'no survey has a sender yet: name one by --from';
    return [finding('sender', 'warn', message)];
  }
  if (count <= mostDomains) return [];
  return [finding('sender', 'warn', `only ${mostDomains} of ${count} domains were looked at`)];
}

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1);

function domainsOf(senders: readonly string[]): string[] {
  const mailed = senders.flatMap((sender) => mailableAddress(sender) ?? []);
  return [...new Set(mailed.map(domainOf))];
}

/** A domain of the settings in the form that DNS has it. */
const ascii = (domain: string) => domainOf(mailableAddress(`x@${domain}`) ?? domain);

type Machines = { ips: string[]; certain: boolean; relay: string | null };

/** The addresses that mails leave from: those that the operator named, else those of the mail server. */
async function findOrigins(
  dns: Resolver,
  named: readonly string[],
  smtp: SmtpSettings | null,
): Promise<Machines> {
  const relay = smtp?.host.toLowerCase() ?? null;
  if (named.length > 0) return { ips: [...named], certain: true, relay };
  const answer = relay && !isIP(relay) ? await addressesOf(dns, relay) : null;
  const known = relay && isIP(relay) ? [relay] : answer?.kind === 'found' ? answer.records : [];
  return { ips: known.filter((ip) => !isForbidden(ip, [])), certain: false, relay };
}

async function examineSigning({ dns, settings }: ExamineMailTools): Promise<Finding[]> {
  if (!settings.dkim) return [unsigned()];
  const { selector, domain, key } = settings.dkim;
  const at = `${selector}._domainkey.${ascii(domain)}`;
  const published = mapAnswer(await dns.txt(at), (texts) =>
    texts.map((text) => compareDkim(text, key)),
  );
  return [judgeDkim({ at, expected: dkimRecordFor(key), published })];
}

/** Where bounces go: to one domain for all, or back to each sender. */
async function examineReturnPaths(
  { dns, settings, origins }: ExamineMailTools & { origins: Machines },
  domains: readonly string[],
): Promise<Finding[]> {
  const paths = settings.bounceDomain ? [ascii(settings.bounceDomain)] : domains;
  const findings = paths.map(async (domain) => [
    await examineSpf(dns, domain, origins),
    ...(settings.bounceDomain ? [await examineMx(dns, domain, 'bounces')] : []),
  ]);
  return (await Promise.all(findings)).flat();
}

async function examineSpf(dns: Resolver, domain: string, machines: Machines): Promise<Finding> {
  const { ips, certain, relay } = machines;
  const sender = { local: 'postmaster', domain, helo: hostname() };
  const [texts, whole, hosts] = await Promise.all([
    dns.txt(domain),
    measureSpf(dns, domain),
    Promise.all(ips.map(async (ip) => ({ ip, outcome: await checkSpf(dns, { ...sender, ip }) }))),
  ]);
  const origins: MailOrigins = { hosts, certain, relay };
  return judgeSpf({ domain, records: mapAnswer(texts, readSpfRecords), whole, origins });
}

async function examineSender(
  { dns, settings }: ExamineMailTools,
  domain: string,
): Promise<Finding[]> {
  const walk = async (each: string): Promise<DmarcWalk> => ({
    domain: each,
    walked: await walkDmarc(dns, each),
  });
  const [from, dkim, returnPath, mx] = await Promise.all([
    walk(domain),
    settings.dkim ? walk(ascii(settings.dkim.domain)) : null,
    walk(settings.bounceDomain ? ascii(settings.bounceDomain) : domain),
    examineMx(dns, domain, settings.bounceDomain ? 'replies' : 'bounces and replies'),
  ]);
  const alignment = judgeAlignment({ from, dkim, returnPath });
  return [judgeDmarc(from), ...(alignment ? [alignment] : []), mx];
}

async function examineMx(dns: Resolver, domain: string, what: string): Promise<Finding> {
  const exchanges = await dns.mx(domain);
  const names =
    exchanges.kind === 'found' ? exchanges.records.map((each) => each.exchange) : [domain];
  const answers = await Promise.all(names.map((name) => addressesOf(dns, name)));
  const best = (wanted: string) => answers.find(({ kind }) => kind === wanted);
  const addresses = best('found') ?? best('failed') ?? answers[0]!;
  return judgeMx({ domain, what, exchanges, addresses });
}

async function examineName(dns: Resolver, ip: string): Promise<Finding> {
  const names = await dns.ptr(ip);
  const said = names.kind === 'found' ? names.records : [];
  const back = await Promise.all(said.map((name) => addressesOf(dns, name)));
  const confirmed = said.filter((_, place) => {
    const answer = back[place]!;
    return answer.kind === 'found' && answer.records.includes(ip);
  });
  return judgePtr({ ip, names, confirmed });
}
