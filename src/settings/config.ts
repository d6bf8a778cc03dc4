import { availableParallelism } from 'node:os';
import * as v from 'valibot';
import { listUrls } from '../lib/db/database-url.ts';
import { createDkimSigner } from '../lib/smtp/dkim.ts';
import { complaint } from '../lib/validation/parse.ts';
import { type Environment, type ReadFile, readValues } from './setting-files.ts';
import { Settings } from './settings.ts';
import { shapeSignIn, signInContradictions } from './sign-in.ts';
import { readTelemetry, type TelemetrySettings } from './telemetry.ts';
export type Config = Readonly<
  ReturnType<typeof shape> & {
    telemetry: TelemetrySettings;
    /** The same by the names of the variables. */
    settings: v.InferOutput<typeof Settings>;
  }
>;

/** Every mistake in the environment, each by the name of its variable. */
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

/** Mistakes that no setting shows by itself: some need each other. */
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
