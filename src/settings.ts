import { availableParallelism } from 'node:os';
import * as v from 'valibot';
import { didYouMean, Whole } from './lib/cli/command.ts';
import { createSecrets, getOrCreateSecretKey } from './lib/crypto/secrets.ts';
import { listUrls } from './lib/db/db.ts';
import { isLoopbackHost } from './lib/http/http-address.ts';
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
  listed,
  mailFrom,
  notifySocket,
  origin,
  type ReadFile,
  readValues,
  role,
  selector,
  smtpUrl,
  text,
  token,
} from './settings-validators.ts';
import { readTelemetry, type TelemetrySettings } from './telemetry-settings.ts';

/** A value as it is written in the environment. */
export function formatSetting(value: unknown): string {
  if (Array.isArray(value)) return formatSetting(value.map(formatSetting).join(','));
  if (value === null || value === '') return '(not set)';
  return typeof value === 'object' ? pair(value as Readonly<Record<string, unknown>>) : `${value}`;
}

/** Settings with two values: `host:port`, `group:role`, `Name <address>`. */
function pair(parts: Readonly<Record<string, unknown>>): string {
  if ('address' in parts) return `${parts['name']} <${parts['address']}>`;
  const host = String(parts['host'] ?? '');
  if (host.includes(':')) return `[${host}]:${parts['port']}`;
  return Object.values(parts).join(':');
}

const secretNames = [
  'ASKBACK_SECRET_KEY',
  'ASKBACK_PREVIOUS_SECRET_KEY',
  'ASKBACK_DKIM_KEY',
  'ASKBACK_AI_KEY',
  'ASKBACK_OIDC_CLIENT_SECRET',
  'ASKBACK_METRICS_TOKEN',
];

export function redactedConfig({ settings }: Config): Record<string, unknown> {
  const redacted = Object.entries(settings).map(([name, value]) => {
    if (secretNames.includes(name)) return [name, '(secret)'];
    return [name, typeof value === 'string' ? withoutPassword(value) : value];
  });
  return Object.fromEntries(redacted);
}

/** Uses a pattern, because `URL` cannot parse a database URL with several hosts. */
const withoutPassword = (text: string) => text.replace(/^([^/]*\/\/[^:@/?#]*):[^/?#]*@/, '$1:***@');

export function configuredSecrets({ secretKey, previousSecretKey }: Config, dataDir: string) {
  const key = secretKey ?? getOrCreateSecretKey(dataDir);
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
    super(`invalid settings:\n${complaints.map((line) => `  ${line}`).join('\n')}`);
    this.name = 'ConfigError';
    this.complaints = complaints;
  }
}

/** Reads the environment and reports all errors at once. */
export function loadConfig(environment: Environment, readFile: ReadFile): Config {
  const names = Object.keys(Settings.entries);
  const { values, complaints } = readValues(names, environment, readFile);
  const parsed = v.safeParse(Settings, values);
  if (!parsed.success) complaints.push(...parsed.issues.map((issue) => complaint(issue)));
  complaints.push(...validateCombinations(values));
  const telemetry = readTelemetry(environment, readFile);
  complaints.push(...telemetry.complaints);
  if (!parsed.success || complaints.length > 0) throw new ConfigError(complaints);
  return { ...shape(parsed.output), telemetry: telemetry.settings, settings: parsed.output };
}

const dkim = ['ASKBACK_DKIM_DOMAIN', 'ASKBACK_DKIM_SELECTOR', 'ASKBACK_DKIM_KEY'];
const oidc = ['ASKBACK_OIDC_ISSUER', 'ASKBACK_OIDC_CLIENT_ID', 'ASKBACK_OIDC_CLIENT_SECRET'];
const optionalOidc = ['NAME', 'DOMAINS', 'ORGANIZATION', 'ROLE', 'GROUPS'].map(
  (name) => `ASKBACK_OIDC_${name}`,
);

const required: readonly [name: string, by: string][] = [
  ['ASKBACK_SECRET_KEY', 'DATABASE_URL'],
  ['DATABASE_URL', 'ASKBACK_SESSION_DATABASE_URL'],
  ['DATABASE_URL', 'ASKBACK_READ_DATABASE_URL'],
  ['ASKBACK_AI_MODEL', 'ASKBACK_AI_URL'],
  ['LISTEN_PID', 'LISTEN_FDS'],
];

function validateCombinations(values: Readonly<Record<string, string>>): string[] {
  const isSet = (name: string) => values[name] !== undefined;
  const missingOf = (names: readonly string[]) => names.filter((name) => !isSet(name));
  const complaints = required
    .filter(([name, by]) => isSet(by) && !isSet(name))
    .map(([name, by]) => `${name}: is required when ${by} is set`);
  complaints.push(...validateRole(values['ASKBACK_ROLE'], isSet));

  const { DATABASE_URL: primary, ASKBACK_READ_DATABASE_URL: replica } = values;
  if (replica !== undefined && primary === replica) {
    complaints.push('ASKBACK_READ_DATABASE_URL: must be a replica, not the primary');
  } else if (replica !== undefined && listUrls(replica).length > 1) {
    complaints.push('ASKBACK_READ_DATABASE_URL: must be one replica, not several hosts');
  }
  for (const [names, what] of [[dkim, 'DKIM'] as const, [oidc, 'OpenID Connect'] as const]) {
    const missing = missingOf(names);
    if (missing.length > 0 && missing.length < names.length) {
      complaints.push(`${missing.join(', ')}: required for ${what}, together with the others`);
    }
  }
  const key = missingOf(dkim).length === 0 && values['ASKBACK_DKIM_KEY'];
  const signer = key && createDkimSigner({ domain: '', selector: '', key });
  if (typeof signer === 'string') complaints.push(`ASKBACK_DKIM_KEY: ${signer}`);

  if (missingOf(oidc).length === oidc.length) {
    const unused = optionalOidc.filter(isSet);
    if (unused.length > 0) complaints.push(`${unused.join(', ')}: also needs ${oidc.join(', ')}`);
    if (values['ASKBACK_PASSWORD_SIGN_IN'] === 'off') {
      complaints.push(
        'ASKBACK_PASSWORD_SIGN_IN: can be off only with ASKBACK_OIDC_ISSUER, because nobody could sign in otherwise',
      );
    }
  }
  const host = URL.parse(values['ASKBACK_OIDC_ISSUER'] ?? '')?.hostname ?? '';
  const isOpen = isSet('ASKBACK_OIDC_ROLE') && !isSet('ASKBACK_OIDC_DOMAINS');
  if (isOpen && publicProviders.includes(host)) {
    complaints.push(
      `ASKBACK_OIDC_DOMAINS: is required with ASKBACK_OIDC_ROLE at ${host}, where anybody can have an account`,
    );
  }
  return complaints;
}

/** Anybody can have an account with these providers, so a role for all newcomers would let anybody in. */
const publicProviders = ['accounts.google.com', 'appleid.apple.com', 'gitlab.com'];

/** Settings that a process with a role shares with other processes. */
export function validateRole(role: string | undefined, isSet: (name: string) => boolean) {
  if (role !== 'web' && role !== 'jobs') return [];
  const reasons = {
    DATABASE_URL: 'the embedded Postgres is for one process',
    ASKBACK_PUBLIC_URL: 'links in emails begin with it',
  };
  return Object.entries(reasons)
    .filter(([name]) => !isSet(name))
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
    databaseWaitSeconds: settings.ASKBACK_DATABASE_WAIT_SECONDS,
    dataDir: settings.ASKBACK_DATA_DIR,
    postgresDir: settings.ASKBACK_POSTGRES_DIR ?? null,
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
    updateUrl: settings.ASKBACK_UPDATE_URL ?? null,
    traceUrl: settings.ASKBACK_TRACE_URL ?? null,
    metrics: {
      token: settings.ASKBACK_METRICS_TOKEN ?? null,
      listen: settings.ASKBACK_METRICS_LISTEN ?? null,
    },
    logLevel: settings.LOG_LEVEL,
    sockets: { count: settings.LISTEN_FDS, pid: settings.LISTEN_PID ?? null },
    manager: {
      notifySocket: settings.NOTIFY_SOCKET ?? null,
      watchdogMs: settings.WATCHDOG_USEC ? settings.WATCHDOG_USEC / 1000 : null,
      watchdogPid: settings.WATCHDOG_PID ?? null,
    },
  };
}

/**
 * More connections would make statements slower, because they share the processors. Fewer than 8 would leave no room
 * for a slow disk.
 */
export const poolByProcessors = (processors = availableParallelism()) =>
  Math.min(32, Math.max(8, 4 * processors));

const maxPid = 4_194_304;
const maxWatchdogUs = 86_400_000_000;

// How members sign in: by password unless it is switched off, and by an OpenID provider if one is named.

const memberRole = v.picklist(['viewer', 'editor', 'owner'], 'must be viewer, editor or owner');

/** Requires https except on this machine, because the provider's answers could otherwise be forged. */
const issuer = v.pipe(
  address('https:', 'http:'),
  v.check(
    (text) => !/^http:/i.test(text) || isLoopbackHost(URL.parse(text)?.hostname ?? ''),
    'must begin with https://, except for a provider on this machine',
  ),
  v.check(
    (text) => !/[?#]|\/\/[^/]*@/.test(text),
    'must be an address without query, such as https://login.example.com/realms/acme',
  ),
);

const domains = v.pipe(
  listed(/[\s,]+/),
  v.everyItem(
    (name) => mailableAddress(`member@${name}`) !== undefined,
    'must be a list of domain names such as example.com, example.org',
  ),
  v.transform((names) => names.map(asciiDomain)),
);

/** Splits at the last colon, because group names may contain colons. */
const groups = v.pipe(
  listed(/[,\n]/),
  v.everyItem(
    (pair) => /^.+:\s*(viewer|editor|owner)$/.test(pair),
    'must be a list of group:role such as feedback-team:editor, with the roles viewer, editor and owner',
  ),
  v.transform((pairs) =>
    pairs.map((pair) => {
      const at = pair.lastIndexOf(':');
      const role = pair.slice(at + 1).trim() as v.InferOutput<typeof memberRole>;
      return { group: pair.slice(0, at).trim(), role };
    }),
  ),
);

const onOrOff = v.picklist(['on', 'off'], 'must be on or off');

const signInSettings = {
  ASKBACK_PASSWORD_SIGN_IN: v.optional(onOrOff, 'on'),
  ASKBACK_OIDC_ISSUER: v.optional(issuer),
  ASKBACK_OIDC_CLIENT_ID: v.optional(text),
  ASKBACK_OIDC_CLIENT_SECRET: v.optional(text),
  ASKBACK_OIDC_NAME: v.optional(text),
  ASKBACK_OIDC_DOMAINS: v.optional(domains, ''),
  ASKBACK_OIDC_ORGANIZATION: v.optional(text),
  ASKBACK_OIDC_ROLE: v.optional(memberRole),
  ASKBACK_OIDC_GROUPS: v.optional(groups, ''),
};

/** A test compares names and defaults with ops/configuration.md. */
export const Settings = v.object({
  DATABASE_URL: v.optional(databaseUrl),
  ASKBACK_SESSION_DATABASE_URL: v.optional(databaseUrl),
  ASKBACK_PREPARED: v.optional(onOrOff, 'on'),
  ASKBACK_READ_DATABASE_URL: v.optional(databaseUrl),
  ASKBACK_READ_MAX_LAG_SECONDS: v.optional(Whole(1, 3600), '5'),
  ASKBACK_ROLE: v.optional(role),
  ASKBACK_DATABASE_WAIT_SECONDS: v.optional(Whole(0, 3600), '30'),
  ASKBACK_DB_POOL: v.optional(Whole(2, 500)),
  ASKBACK_DATA_DIR: v.optional(text, './askback-data'),
  ASKBACK_POSTGRES_DIR: v.optional(text),
  ASKBACK_ERASURES_FILE: v.optional(text),
  HOST: v.optional(text, '127.0.0.1'),
  PORT: v.optional(Whole(0, 65_535), '8080'),
  ASKBACK_DRAIN_SECONDS: v.optional(Whole(0, 10), '0'),
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
  ASKBACK_RATE_LIMIT: v.optional(Whole(1, 1_000_000), '100'),
  ASKBACK_MAX_CONTACTS: v.optional(Whole(1, 100_000), '1000'),
  ASKBACK_SEND_DEADLINE_SECONDS: v.optional(Whole(1, 3600), '60'),
  ASKBACK_AI_URL: v.optional(address('http:', 'https:')),
  ASKBACK_AI_KEY: v.optional(text),
  ASKBACK_AI_MODEL: v.optional(text),
  ...signInSettings,
  ASKBACK_TRUSTED_PROXIES: v.optional(cidrs, ''),
  ASKBACK_SECURITY_CONTACT: v.optional(address('mailto:', 'https:')),
  ASKBACK_UPDATE_URL: v.optional(address('http:', 'https:')),
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
  LISTEN_FDS: v.optional(Whole(0, 16), '0'),
  LISTEN_PID: v.optional(Whole(1, maxPid)),
  // Otherwise this socket would serve the whole app.
  LISTEN_FDNAMES: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (names) => !names.split(':').includes('metrics'),
        'a socket cannot be for metrics: remove its unit and set ASKBACK_METRICS_LISTEN',
      ),
    ),
  ),
  NOTIFY_SOCKET: v.optional(notifySocket),
  WATCHDOG_USEC: v.optional(Whole(1, maxWatchdogUs)),
  WATCHDOG_PID: v.optional(Whole(1, maxPid)),
});

export type OidcSettings = NonNullable<SignInSettings['oidc']>;
export type OidcGroup = v.InferOutput<typeof groups>[number];

/** Lower case, with international domains in ASCII, like normalized addresses. */
function asciiDomain(name: string): string {
  const address = mailableAddress(`member@${name}`) ?? name;
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

export type SignInSettings = ReturnType<typeof shapeSignIn>;

function shapeSignIn(settings: v.InferOutput<v.ObjectSchema<typeof signInSettings, undefined>>) {
  const issuer = settings.ASKBACK_OIDC_ISSUER;
  const oidc = issuer
    ? {
        issuer,
        clientId: settings.ASKBACK_OIDC_CLIENT_ID ?? '',
        clientSecret: settings.ASKBACK_OIDC_CLIENT_SECRET ?? '',
        name: settings.ASKBACK_OIDC_NAME ?? new URL(issuer).host,
        domains: settings.ASKBACK_OIDC_DOMAINS,
        /** Id or slug of the organization that newcomers join. Null if there is only one organization. */
        organization: settings.ASKBACK_OIDC_ORGANIZATION ?? null,
        /** Role of new members without a group; null if they need an invitation. */
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
      const plain = name.slice(prefix.length);
      const isPlain = names.includes(plain);
      const suggestion = isPlain ? `; did you mean '${plain}'?` : didYouMean(name, names);
      return `${name} is not a setting of askback${suggestion}`;
    });
}
