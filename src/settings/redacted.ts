import type { Config } from './config.ts';

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
