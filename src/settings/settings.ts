import * as v from 'valibot';
import { signInSettings } from './sign-in.ts';
import {
  address,
  bearer,
  bytes32,
  cidrs,
  databaseUrl,
  domain,
  hostAndPort,
  mailFrom,
  names,
  notifySocket,
  origin,
  role,
  selector,
  smtpUrl,
  text,
  token,
  whole,
} from './validators.ts';

const mostSockets = 16;
const largestPid = 4_194_304;
const longestWatchdogUs = 86_400_000_000;

/** The names and defaults of ops/configuration.md; a test compares the two. */
export const Settings = v.object({
  DATABASE_URL: v.optional(databaseUrl),
  ASKBACK_SESSION_DATABASE_URL: v.optional(databaseUrl),
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
