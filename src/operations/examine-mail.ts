import { isIP } from 'node:net';
import { isForbidden } from '../lib/outbound/addresses.ts';
import { mailableAddress } from '../lib/smtp/address.ts';
import { readSmtpUrl, type SmtpSettings } from '../lib/smtp/settings.ts';
import type { Config } from '../settings/config.ts';
import { examineLogin } from './examine-login.ts';
import { examineOneClick } from './examine-one-click.ts';
import { type Finding, finding } from './finding.ts';
import { examineDkim, unsigned } from './mail-dns/dkim.ts';
import { examineDmarc } from './mail-dns/dmarc.ts';
import { addressesOf, type Resolver } from './mail-dns/resolver.ts';
import { examineMx, examinePtr } from './mail-dns/route.ts';
import { examineSpf, type Machines } from './mail-dns/spf.ts';

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
  const machines = await findMachines(tools.dns, questions.sendsFrom, smtp);
  const groups = await Promise.all([
    Promise.all(here),
    Promise.all([examineSigning(tools)]),
    examineReturnPaths({ ...tools, machines }, some),
    ...some.map((domain) => examineSender(tools, domain)),
    Promise.all(machines.certain ? machines.ips.map((ip) => examinePtr(tools.dns, ip)) : []),
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

/** The addresses that mails leave from: those that the operator named, else those of the mail server. */
async function findMachines(
  dns: Resolver,
  named: readonly string[],
  smtp: SmtpSettings | null,
): Promise<Machines> {
  const relay = smtp?.host.toLowerCase() ?? null;
  if (named.length > 0) return { ips: named, certain: true, relay };
  const answer = relay && !isIP(relay) ? await addressesOf(dns, relay) : null;
  const ips = relay && isIP(relay) ? [relay] : answer?.kind === 'found' ? answer.records : [];
  return { ips: ips.filter((ip) => !isForbidden(ip, [])), certain: false, relay };
}

async function examineSigning({ dns, settings }: ExamineMailTools): Promise<Finding> {
  if (!settings.dkim) return unsigned();
  const { selector, domain, key } = settings.dkim;
  return await examineDkim(dns, `${selector}._domainkey.${ascii(domain)}`, key);
}

/** Where bounces go: to one domain for all, or back to each sender. */
async function examineReturnPaths(
  { dns, settings, machines }: ExamineMailTools & { machines: Machines },
  domains: readonly string[],
): Promise<Finding[]> {
  const paths = settings.bounceDomain ? [ascii(settings.bounceDomain)] : domains;
  const findings = paths.flatMap((domain) => [
    examineSpf(dns, domain, machines),
    ...(settings.bounceDomain ? [examineMx(dns, domain, 'bounces')] : []),
  ]);
  return await Promise.all(findings);
}

async function examineSender(
  { dns, settings: { bounceDomain, dkim } }: ExamineMailTools,
  from: string,
): Promise<Finding[]> {
  const signer = dkim ? ascii(dkim.domain) : null;
  const returnPath = bounceDomain ? ascii(bounceDomain) : from;
  const [policy, mx] = await Promise.all([
    examineDmarc(dns, { from, signer, returnPath }),
    examineMx(dns, from, bounceDomain ? 'replies' : 'bounces and replies'),
  ]);
  return [...policy, mx];
}
