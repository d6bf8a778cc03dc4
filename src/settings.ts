import { availableParallelism } from 'node:os';
import * as v from 'valibot';
import { didYouMean } from './lib/cli/command.ts';
import { createSecrets, obtainSecretKey } from './lib/crypto/secrets.ts';
import { listUrls } from './lib/db/db.ts';
import { mailableAddress } from './lib/smtp/address.ts';
import { createDkimSigner } from './lib/smtp/dkim.ts';
import { complaint } from './lib/validation/parse.ts';
import {
  address,
  bearer,
  bytes32,
  cidrs,
  databaseUrl,
  domain,
  type Environment,
  hostAndPort,
  mailFrom,
  names,
  notifySocket,
  origin,
  type ReadFile,
  readValues,
  role,
  selector,
  smtpUrl,
  text,
  token,
  whole,
} from './settings-validators.ts';
import { readTelemetry, type TelemetrySettings } from './telemetry-settings.ts';

export function spelled(value: unknown): string {
  if (value === null || value === '') return notSet;
  if (Array.isArray(value)) return value.length > 0 ? value.map(spelled).join(',') : notSet;
  return typeof value === 'object' ? pair(value as Readonly<Record<string, unknown>>) : `${value}`;
}

const notSet = '(not set)';

/** Two values that are one setting: `host:port`, `group:role`, `Name <address>`. */
function pair(parts: Readonly<Record<string, unknown>>): string {
  if ('address' in parts) return `${parts['name']} <${parts['address']}>`;
  const host = String(parts['host'] ?? '');
  if (host.includes(':')) return `[${host}]:${parts['port']}`;
  return Object.values(parts).join(':');
}

const hidden = '(secret)';
const secrets = [
  'ASKBACK_SECRET_KEY',
  'ASKBACK_PREVIOUS_SECRET_KEY',
  'ASKBACK_DKIM_KEY',
  'ASKBACK_AI_KEY',
  'ASKBACK_OIDC_CLIENT_SECRET',
  'ASKBACK_METRICS_TOKEN',
];
const addresses = [
  'DATABASE_URL',
  'ASKBACK_SESSION_DATABASE_URL',
  'ASKBACK_READ_DATABASE_URL',
  'ASKBACK_SMTP_URL',
  'ASKBACK_AI_URL',
];

/** The settings in force by the names one sets, without what gives access to anything. */
export function redactedConfig({ settings, telemetry }: Config): Record<string, unknown> {
  const shown = Object.entries(settings).map(([name, value]) => [name, redacted(name, value)]);
  const { traces, metrics } = telemetry;
  return { ...Object.fromEntries(shown), exported: { traces, metrics } };
}

function redacted(name: string, value: unknown): unknown {
  if (secrets.includes(name)) return hidden;
  return addresses.includes(name) ? withoutPassword(String(value)) : value;
}

function withoutPassword(address: string): string {
  // Several hosts have no form that a URL knows.
  if (!URL.canParse(address)) return address.replace(/^([^/]*\/\/[^:@]*):[^/?#]*@/, '$1:***@');
  const url = new URL(address);
  if (url.password !== '') url.password = '***';
  return url.href;
}

export function configuredSecrets({ secretKey, previousSecretKey }: Config, dataDir: string) {
  const key = secretKey ?? obtainSecretKey(dataDir);
  return createSecrets(previousSecretKey ? [key, previousSecretKey] : [key]); // both during a rotation
}

export type Config = Readonly<
  ReturnType<typeof shape> & {
    telemetry: TelemetrySettings;
    settings: v.InferOutput<typeof Settings>;
  }
>;

export class ConfigError extends Error {
  readonly complaints: readonly string[];

  constructor(complaints: readonly string[]) {
    super(`the environment is not usable:\n${complaints.map((line) => `  ${line}`).join('\n')}`);
    this.name = 'ConfigError';
    this.complaints = complaints;
  }
}

/** Reads the environment once, at start, and reports every mistake in it at once. */
export function loadConfig(environment: Environment, readFile: ReadFile): Config {
  const names = Object.keys(Settings.entries);
  const { values, complaints } = readValues(names, environment, readFile);
  const parsed = v.safeParse(Settings, values);
  if (!parsed.success) complaints.push(...parsed.issues.map(complaint));
  complaints.push(...contradictions(values), ...signInContradictions(values));
  const telemetry = readTelemetry(environment, readFile);
  complaints.push(...telemetry.complaints);
  if (!parsed.success || complaints.length > 0) throw new ConfigError(complaints);
  return { ...shape(parsed.output), telemetry: telemetry.settings, settings: parsed.output };
}

function contradictions(values: Readonly<Record<string, string>>): string[] {
  const given = (name: string) => values[name] !== undefined;
  const complaints: string[] = [];
  if (given('DATABASE_URL') && !given('ASKBACK_SECRET_KEY')) {
    complaints.push('ASKBACK_SECRET_KEY: is required once DATABASE_URL is set');
  }
  if (given('ASKBACK_SESSION_DATABASE_URL') && !given('DATABASE_URL')) {
    complaints.push('ASKBACK_SESSION_DATABASE_URL: goes with DATABASE_URL, which is not set');
  }
  complaints.push(...complaintsOfReplica(values));
  complaints.push(...complaintsOfRole(values['ASKBACK_ROLE'], given));
  const dkim = ['ASKBACK_DKIM_DOMAIN', 'ASKBACK_DKIM_SELECTOR', 'ASKBACK_DKIM_KEY'];
  const missing = dkim.filter((name) => !given(name));
  if (missing.length > 0 && missing.length < dkim.length) {
    complaints.push(`${missing.join(', ')}: required for DKIM with the others`);
  }
  const key = values['ASKBACK_DKIM_KEY'];
  const signer = key && missing.length === 0 && createDkimSigner({ domain: '', selector: '', key });
  if (typeof signer === 'string' && signer !== '') complaints.push(`ASKBACK_DKIM_KEY: ${signer}`);
  if (given('ASKBACK_AI_URL') && !given('ASKBACK_AI_MODEL')) {
    complaints.push('ASKBACK_AI_MODEL: is required once ASKBACK_AI_URL is set');
  }
  if (given('LISTEN_FDS') && !given('LISTEN_PID')) {
    complaints.push('LISTEN_PID: is required once LISTEN_FDS is set');
  }
  return complaints;
}

/** Each by the name of the replica's setting: it is what cannot work. */
function complaintsOfReplica(values: Readonly<Record<string, string>>): string[] {
  const { ASKBACK_READ_DATABASE_URL: replica, DATABASE_URL: primary } = values;
  if (replica === undefined) return [];
  const name = 'ASKBACK_READ_DATABASE_URL';
  if (primary === undefined) return [`${name}: goes with DATABASE_URL, which is not set`];
  if (primary === replica)
    return [`${name}: must name a replica, and not the address of DATABASE_URL`];
  if (listUrls(replica).length > 1)
    return [`${name}: must name one replica, and not several hosts`];
  return [];
}

/** What one half of the service needs so that the other half, in another process, can work with it. */
export function complaintsOfRole(role: string | undefined, given: (name: string) => boolean) {
  if (role !== 'web' && role !== 'jobs') return [];
  const why = {
    DATABASE_URL: 'the embedded Postgres is for one process',
    ASKBACK_PUBLIC_URL: 'links in mails begin with it',
  };
  return Object.entries(why)
    .filter(([name]) => !given(name))
    .map(([name, reason]) => `${name}: is required for the role ${role}: ${reason}`);
}

function shape(settings: v.InferOutput<typeof Settings>) {
  const { ASKBACK_DKIM_DOMAIN: domain, ASKBACK_DKIM_SELECTOR: selector } = settings;
  const key = settings.ASKBACK_DKIM_KEY;
  const aiUrl = settings.ASKBACK_AI_URL;
  return {
    databaseUrl: settings.DATABASE_URL ?? null,
    sessionDatabaseUrl: settings.ASKBACK_SESSION_DATABASE_URL ?? null,
    preparedStatements: settings.ASKBACK_PREPARED === 'on',
    readDatabaseUrl: settings.ASKBACK_READ_DATABASE_URL ?? null,
    readMaxLagSeconds: settings.ASKBACK_READ_MAX_LAG_SECONDS,
    role: settings.ASKBACK_ROLE ?? null,
    databaseConnections: settings.ASKBACK_DB_POOL ?? poolByProcessors(),
    databaseProcessors: settings.ASKBACK_DB_PROCESSORS ?? availableParallelism(),
    databaseWaitSeconds: settings.ASKBACK_DATABASE_WAIT_SECONDS,
    dataDir: settings.ASKBACK_DATA_DIR,
    erasuresFile: settings.ASKBACK_ERASURES_FILE ?? null,
    host: settings.HOST,
    port: settings.PORT,
    drainSeconds: settings.ASKBACK_DRAIN_SECONDS,
    publicUrl: settings.ASKBACK_PUBLIC_URL ?? null,
    smtpUrl: settings.ASKBACK_SMTP_URL ?? null,
    mailFrom: settings.ASKBACK_MAIL_FROM ?? null,
    bounceDomain: settings.ASKBACK_BOUNCE_DOMAIN ?? null,
    dkim: domain && selector && key ? { domain, selector, key } : null,
    secretKey: settings.ASKBACK_SECRET_KEY ?? null,
    previousSecretKey: settings.ASKBACK_PREVIOUS_SECRET_KEY ?? null,
    serviceName: settings.ASKBACK_SERVICE_NAME,
    webhooks: {
      allow: settings.ASKBACK_WEBHOOK_ALLOW,
      http: settings.ASKBACK_WEBHOOK_HTTP === 'allow',
    },
    rateLimit: settings.ASKBACK_RATE_LIMIT,
    maxContacts: settings.ASKBACK_MAX_CONTACTS,
    sendDeadlineSeconds: settings.ASKBACK_SEND_DEADLINE_SECONDS,
    ai: aiUrl
      ? { url: aiUrl, key: settings.ASKBACK_AI_KEY ?? null, model: settings.ASKBACK_AI_MODEL ?? '' }
      : null,
    signIn: shapeSignIn(settings),
    trustedProxies: settings.ASKBACK_TRUSTED_PROXIES,
    securityContact: settings.ASKBACK_SECURITY_CONTACT ?? null,
    traceUrl: settings.ASKBACK_TRACE_URL ?? null,
    metrics: {
      token: settings.ASKBACK_METRICS_TOKEN ?? null,
      listen: settings.ASKBACK_METRICS_LISTEN ?? null,
    },
    logLevel: settings.LOG_LEVEL,
    sockets: {
      count: settings.LISTEN_FDS,
      pid: settings.LISTEN_PID ?? null,
      names: settings.LISTEN_FDNAMES,
    },
    manager: {
      notifySocket: settings.NOTIFY_SOCKET ?? null,
      watchdogMs: settings.WATCHDOG_USEC ? settings.WATCHDOG_USEC / 1000 : null,
      watchdogPid: settings.WATCHDOG_PID ?? null,
    },
  };
}

/** More connections than this make statements slower: they share the processors. Fewer than 8 leave no room for a slow disk. */
export const poolByProcessors = (processors = availableParallelism()) =>
  Math.min(32, Math.max(8, 4 * processors));

const mostSockets = 16;
const largestPid = 4_194_304;
const longestWatchdogUs = 86_400_000_000;

// How members sign in: by password unless it is switched off, and by an OpenID provider if one is named.

const roles = ['viewer', 'editor', 'owner'] as const;

const memberRole = v.picklist(roles, 'must be viewer, editor or owner');

/** Without encryption the provider's answers could be forged, except on this machine. */
const issuer = v.pipe(
  address('https:', 'http:'),
  v.check((given) => {
    const url = URL.parse(given);
    if (!url) return true; // reported already
    return (
      url.protocol === 'https:' || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
    );
  }, 'must begin with https://, except for a provider on this machine'),
  v.check((given) => {
    const url = URL.parse(given);
    return !url || (url.search === '' && url.hash === '' && url.username === '');
  }, 'must be an address without query, such as https://login.example.com/realms/acme'),
);

const listed = (separator: RegExp) =>
  v.pipe(
    v.string(),
    v.transform((given) => given.split(separator).map((each) => each.trim())),
    v.transform((each) => each.filter((item) => item !== '')),
  );

const domains = v.pipe(
  listed(/[\s,]+/),
  v.everyItem(
    (name) => mailableAddress(`member@${name}`) !== undefined,
    'must be a list of domain names such as example.com, example.org',
  ),
  v.transform((names) => names.map(asciiDomain)),
);

/** The last colon separates, because names of groups may have some. */
const groups = v.pipe(
  listed(/[,\n]/),
  v.everyItem(
    (pair) => /^.+:\s*(viewer|editor|owner)$/.test(pair),
    'must be a list of group:role such as feedback-team:editor, with the roles viewer, editor and owner',
  ),
  v.transform((pairs) =>
    pairs.map((pair): OidcGroup => {
      const at = pair.lastIndexOf(':');
      return { group: pair.slice(0, at).trim(), role: pair.slice(at + 1).trim() as Role };
    }),
  ),
);

const signInSettings = {
  ASKBACK_PASSWORD_SIGN_IN: v.optional(v.picklist(['on', 'off'], 'must be on or off'), 'on'),
  ASKBACK_OIDC_ISSUER: v.optional(issuer),
  ASKBACK_OIDC_CLIENT_ID: v.optional(text),
  ASKBACK_OIDC_CLIENT_SECRET: v.optional(text),
  ASKBACK_OIDC_NAME: v.optional(text),
  ASKBACK_OIDC_DOMAINS: v.optional(domains, ''),
  ASKBACK_OIDC_ORGANIZATION: v.optional(text),
  ASKBACK_OIDC_ROLE: v.optional(memberRole),
  ASKBACK_OIDC_GROUPS: v.optional(groups, ''),
};

/** The names and defaults of ops/configuration.md; a test compares the two. */
export const Settings = v.object({
  DATABASE_URL: v.optional(databaseUrl),
  ASKBACK_SESSION_DATABASE_URL: v.optional(databaseUrl),
  ASKBACK_PREPARED: v.optional(v.picklist(['on', 'off'], 'must be on or off'), 'on'),
  ASKBACK_READ_DATABASE_URL: v.optional(databaseUrl),
  ASKBACK_READ_MAX_LAG_SECONDS: v.optional(whole(1, 3600), '5'),
  ASKBACK_ROLE: v.optional(role),
  ASKBACK_DATABASE_WAIT_SECONDS: v.optional(whole(0, 3600), '30'),
  ASKBACK_DB_POOL: v.optional(whole(2, 500)),
  ASKBACK_DB_PROCESSORS: v.optional(whole(1, 1000)),
  ASKBACK_DATA_DIR: v.optional(text, './askback-data'),
  ASKBACK_ERASURES_FILE: v.optional(text),
  HOST: v.optional(text, '127.0.0.1'),
  PORT: v.optional(whole(0, 65_535), '8080'),
  ASKBACK_DRAIN_SECONDS: v.optional(whole(0, 10), '0'),
  ASKBACK_PUBLIC_URL: v.optional(origin),
  ASKBACK_SMTP_URL: v.optional(smtpUrl),
  ASKBACK_MAIL_FROM: v.optional(mailFrom),
  ASKBACK_BOUNCE_DOMAIN: v.optional(domain),
  ASKBACK_DKIM_DOMAIN: v.optional(domain),
  ASKBACK_DKIM_SELECTOR: v.optional(selector),
  ASKBACK_DKIM_KEY: v.optional(text),
  ASKBACK_SECRET_KEY: v.optional(bytes32),
  ASKBACK_PREVIOUS_SECRET_KEY: v.optional(bytes32),
  ASKBACK_SERVICE_NAME: v.optional(token, 'Service'),
  ASKBACK_WEBHOOK_ALLOW: v.optional(cidrs, ''),
  ASKBACK_WEBHOOK_HTTP: v.optional(
    v.picklist(['refuse', 'allow'], 'must be refuse or allow'),
    'refuse',
  ),
  ASKBACK_RATE_LIMIT: v.optional(whole(1, 1_000_000), '100'),
  ASKBACK_MAX_CONTACTS: v.optional(whole(1, 100_000), '1000'),
  ASKBACK_SEND_DEADLINE_SECONDS: v.optional(whole(1, 3600), '60'),
  ASKBACK_AI_URL: v.optional(address('http:', 'https:')),
  ASKBACK_AI_KEY: v.optional(text),
  ASKBACK_AI_MODEL: v.optional(text),
  ...signInSettings,
  ASKBACK_TRUSTED_PROXIES: v.optional(cidrs, ''),
  ASKBACK_SECURITY_CONTACT: v.optional(address('mailto:', 'https:')),
  ASKBACK_TRACE_URL: v.optional(
    v.pipe(address('http:', 'https:'), v.includes('{trace_id}', 'must contain {trace_id}')),
  ),
  ASKBACK_METRICS_TOKEN: v.optional(bearer),
  ASKBACK_METRICS_LISTEN: v.optional(hostAndPort),
  LOG_LEVEL: v.optional(
    v.picklist(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace'],
      'must be fatal, error, warn, info, debug or trace',
    ),
    'info',
  ),
  LISTEN_FDS: v.optional(whole(0, mostSockets), '0'),
  LISTEN_PID: v.optional(whole(1, largestPid)),
  LISTEN_FDNAMES: v.optional(names, ''),
  NOTIFY_SOCKET: v.optional(notifySocket),
  WATCHDOG_USEC: v.optional(whole(1, longestWatchdogUs)),
  WATCHDOG_PID: v.optional(whole(1, largestPid)),
});

type Role = (typeof roles)[number];

export type OidcSettings = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  name: string;
  domains: readonly string[];
  /** The organization that newcomers join, by id or slug; null for the only one. */
  organization: string | null;
  /** Of newcomers without a group; null if they need an invitation. */
  role: Role | null;
  groups: readonly OidcGroup[];
};

export type OidcGroup = { group: string; role: Role };

/** As addresses are compared: in lower case, and an international domain in its ASCII form. */
function asciiDomain(name: string): string {
  const address = mailableAddress(`member@${name}`) ?? name;
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

const together = ['ASKBACK_OIDC_ISSUER', 'ASKBACK_OIDC_CLIENT_ID', 'ASKBACK_OIDC_CLIENT_SECRET'];
const further = ['NAME', 'DOMAINS', 'ORGANIZATION', 'ROLE', 'GROUPS'].map(
  (name) => `ASKBACK_OIDC_${name}`,
);
/** Providers at which anybody has an account. */
const publicProviders = ['accounts.google.com', 'appleid.apple.com', 'gitlab.com'];

function signInContradictions(values: Readonly<Record<string, string>>): string[] {
  const given = (name: string) => values[name] !== undefined;
  const complaints: string[] = [];
  const missing = together.filter((name) => !given(name));
  if (missing.length > 0 && missing.length < together.length) {
    complaints.push(`${missing.join(', ')}: required for OpenID Connect with the others`);
  }
  if (missing.length === together.length) {
    const idle = further.filter(given);
    if (idle.length > 0)
      complaints.push(`${idle.join(', ')}: needs ${together.join(', ')} as well`);
    if (values['ASKBACK_PASSWORD_SIGN_IN'] === 'off') {
      complaints.push(
        'ASKBACK_PASSWORD_SIGN_IN: may be off only with ASKBACK_OIDC_ISSUER: nothing else would be left to sign in with',
      );
    }
  }
  return [...complaints, ...openToAll(values)];
}

/** A role for every newcomer of a provider that anybody can join would let anybody in. */
function openToAll(values: Readonly<Record<string, string>>): string[] {
  const host = URL.parse(values['ASKBACK_OIDC_ISSUER'] ?? '')?.hostname ?? '';
  const isLimited = !values['ASKBACK_OIDC_ROLE'] || values['ASKBACK_OIDC_DOMAINS'];
  if (isLimited || !publicProviders.includes(host)) return [];
  return [
    `ASKBACK_OIDC_DOMAINS: is required with ASKBACK_OIDC_ROLE at ${host}, where anybody has an account`,
  ];
}

export type SignInSettings = ReturnType<typeof shapeSignIn>;

function shapeSignIn(settings: v.InferOutput<v.ObjectSchema<typeof signInSettings, undefined>>) {
  const issuer = settings.ASKBACK_OIDC_ISSUER;
  const oidc: OidcSettings | null = issuer
    ? {
        issuer,
        clientId: settings.ASKBACK_OIDC_CLIENT_ID ?? '',
        clientSecret: settings.ASKBACK_OIDC_CLIENT_SECRET ?? '',
        name: settings.ASKBACK_OIDC_NAME ?? new URL(issuer).host,
        domains: settings.ASKBACK_OIDC_DOMAINS,
        organization: settings.ASKBACK_OIDC_ORGANIZATION ?? null,
        role: settings.ASKBACK_OIDC_ROLE ?? null,
        groups: settings.ASKBACK_OIDC_GROUPS,
      }
    : null;
  return { byPassword: settings.ASKBACK_PASSWORD_SIGN_IN === 'on', oidc };
}

const prefix = 'ASKBACK_';

export function unknownSettings(variables: readonly string[], known: readonly string[]): string[] {
  const names = known.flatMap((name) => [name, `${name}_FILE`]);
  return variables
    .filter((name) => name.startsWith(prefix) && !names.includes(name))
    .sort()
    .map((name) => {
      // Some settings have no prefix, which is easily added by mistake.
      const plain = name.slice(prefix.length);
      const meant = names.includes(plain) ? `; did you mean '${plain}'?` : didYouMean(name, names);
      return `${name} is set, and is no setting of askback${meant}`;
    });
}
