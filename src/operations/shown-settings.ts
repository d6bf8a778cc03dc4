import type { Config } from '../settings/config.ts';

/** A standard variable that looks like ours may be set for somebody else; one with our prefix may not. */
export function meaningless(variables: readonly string[], known: readonly string[]): string[] {
  const names = new Set(known.flatMap((name) => [name, `${name}_FILE`]));
  return variables.filter((name) => name.startsWith('ASKBACK_') && !names.has(name)).sort();
}

const secret = '(secret)';

/** The settings in force, fit to be shown: what opens doors is only said to be there. */
export function shown(config: Config) {
  return {
    ...config,
    databaseUrl: withoutPassword(config.databaseUrl),
    smtpUrl: withoutPassword(config.smtpUrl),
    secretKey: config.secretKey && secret,
    previousSecretKey: config.previousSecretKey && secret,
    dkim: config.dkim && { ...config.dkim, key: secret },
    ai: config.ai && {
      ...config.ai,
      url: withoutPassword(config.ai.url),
      key: config.ai.key && secret,
    },
    telemetry: { traces: config.telemetry.traces, metrics: config.telemetry.metrics },
    metrics: { ...config.metrics, token: config.metrics.token && secret },
  };
}

function withoutPassword(address: string | null): string | null {
  if (address === null) return null;
  const url = new URL(address);
  if (url.password !== '') url.password = '***';
  return url.href;
}
