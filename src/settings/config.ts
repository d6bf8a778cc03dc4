import * as v from 'valibot';
import { createDkimSigner } from '../lib/smtp/dkim.ts';
import { complaint } from '../lib/validation/parse.ts';
import { readTelemetry, type TelemetrySettings } from './telemetry.ts';
import {
  address,
  bearer,
  bytes32,
  cidrs,
  domain,
  hostAndPort,
  names,
  notifySocket,
  origin,
  selector,
  smtpUrl,
  text,
  token,
  whole,
} from './validators.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type Config = Readonly<ReturnType<typeof shape> & { telemetry: TelemetrySettings }>;

/** Every mistake in the environment, each by the name of its variable. */
export class ConfigError extends Error {
  readonly complaints: readonly string[];

  constructor(complaints: readonly string[]) {
    super(`the environment is not usable:\n${complaints.map((line) => `  ${line}`).join('\n')}`);
    this.name = 'ConfigError';
    this.complaints = complaints;
  }
}

/** Reads the environment once, at start; complains of every mistake in it at once. */
export function loadConfig(environment: Environment, readFile: (path: string) => string): Config {
  const { values, complaints } = withFiles(environment, readFile);
  const parsed = v.safeParse(Settings, values);
  if (!parsed.success) complaints.push(...parsed.issues.map(complaint));
  complaints.push(...contradictions(values));
  const telemetry = readTelemetry(environment, readFile);
  complaints.push(...telemetry.complaints);
  if (!parsed.success || complaints.length > 0) throw new ConfigError(complaints);
  return { ...shape(parsed.output), telemetry: telemetry.settings };
}

const mostSockets = 16;
const largestPid = 4_194_304;
const longestWatchdogUs = 86_400_000_000;

/** The names and defaults of ops/configuration.md; a test compares the two. */
export const Settings = v.object({
  DATABASE_URL: v.optional(address('postgres:', 'postgresql:')),
  ASKBACK_DATABASE_WAIT_SECONDS: v.optional(whole(0, 3600), '30'),
  ASKBACK_DATA_DIR: v.optional(text, './askback-data'),
  HOST: v.optional(text, '127.0.0.1'),
  PORT: v.optional(whole(0, 65_535), '8080'),
  ASKBACK_DRAIN_SECONDS: v.optional(whole(0, 10), '0'),
  ASKBACK_PUBLIC_URL: v.optional(origin),
  ASKBACK_SMTP_URL: v.optional(smtpUrl),
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

/** A setting may be given as a file: NAME_FILE holds its path. An empty setting counts as not given. */
function withFiles(environment: Environment, readFile: (path: string) => string) {
  const values: Record<string, string> = {};
  const complaints: string[] = [];
  for (const name of Object.keys(Settings.entries)) {
    const [value, path] = [environment[name], environment[`${name}_FILE`]];
    if (value && path) complaints.push(`${name}: is given twice, also as ${name}_FILE`);
    if (value) values[name] = value;
    else if (path) {
      try {
        values[name] = readFile(path).replace(/\r?\n$/, '');
      } catch (error) {
        complaints.push(`${name}_FILE: cannot be read: ${(error as Error).message}`);
      }
    }
  }
  return { values, complaints };
}

/** What no setting shows by itself: two that need each other. */
function contradictions(values: Readonly<Record<string, string>>): string[] {
  const given = (name: string) => values[name] !== undefined;
  const complaints: string[] = [];
  if (given('DATABASE_URL') && !given('ASKBACK_SECRET_KEY')) {
    complaints.push('ASKBACK_SECRET_KEY: is required once DATABASE_URL is set');
  }
  const dkim = ['ASKBACK_DKIM_DOMAIN', 'ASKBACK_DKIM_SELECTOR', 'ASKBACK_DKIM_KEY'];
  const missing = dkim.filter((name) => !given(name));
  if (missing.length > 0 && missing.length < dkim.length) {
    complaints.push(`${missing.join(', ')}: required for DKIM beside the others`);
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

function shape(settings: v.InferOutput<typeof Settings>) {
  const { ASKBACK_DKIM_DOMAIN: domain, ASKBACK_DKIM_SELECTOR: selector } = settings;
  const key = settings.ASKBACK_DKIM_KEY;
  const aiUrl = settings.ASKBACK_AI_URL;
  return {
    databaseUrl: settings.DATABASE_URL ?? null,
    databaseWaitSeconds: settings.ASKBACK_DATABASE_WAIT_SECONDS,
    dataDir: settings.ASKBACK_DATA_DIR,
    host: settings.HOST,
    port: settings.PORT,
    drainSeconds: settings.ASKBACK_DRAIN_SECONDS,
    publicUrl: settings.ASKBACK_PUBLIC_URL ?? null,
    smtpUrl: settings.ASKBACK_SMTP_URL ?? null,
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
