import { type Context, Hono } from 'hono';
import { accepts } from 'hono/accepts';
import { Refusal } from '../../errors.ts';
import { constantTimeEqual } from '../crypto/secrets.ts';
import { isLocalRequest } from '../http/listen.ts';
import type { Exemplar, Family, Sample } from './recorder.ts';

export type MetricsTools = { families: () => Promise<Family[]>; access: MetricsAccess };

const openMetrics = 'application/openmetrics-text';

/** Prometheus prefers OpenMetrics. Other clients get the text format. */
export const metricsRoutes = ({ families, access }: MetricsTools) =>
  new Hono().get('/metrics', async (c) => {
    requireAccess(c, access);
    const supports = [openMetrics, 'text/plain'];
    const type = accepts(c, { header: 'Accept', supports, default: 'text/plain' });
    const format = type === openMetrics ? 'openmetrics' : 'prometheus';
    return c.body(expose(await families(), format), 200, {
      'Content-Type': contentTypes[format],
      'Cache-Control': 'no-store',
      Vary: 'Accept',
    });
  });

type MetricsAccess = {
  token: string | null;
  ownAddress: boolean;
  /** Admit local callers while there is no token. */
  trustsLocal: boolean;
  settings: string;
};

/**
 * If no token is set, everyone can read a separate metrics address, and local callers can read metrics on the main
 * address. If a token is set, everyone needs it, because all visitors may look local behind a proxy.
 */
function requireAccess(c: Context, { token, ownAddress, trustsLocal, settings }: MetricsAccess) {
  if (token === null) {
    if (ownAddress || (trustsLocal && isLocalRequest(c))) return;
    throw new Refusal(
      'forbidden',
      trustsLocal
        ? `metrics are only available on this machine unless ${settings} is set`
        : `metrics are not available until ${settings} is set`,
    );
  }
  const [, bearer] = /^Bearer +(\S+) *$/i.exec(c.req.header('Authorization') ?? '') ?? [];
  if (bearer !== undefined && constantTimeEqual(bearer, token)) return;
  c.header('WWW-Authenticate', 'Bearer realm="metrics"');
  throw new Refusal('unauthorized', 'the bearer token for metrics is missing or wrong');
}

type Format = 'prometheus' | 'openmetrics';

const contentTypes: Readonly<Record<Format, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: `${openMetrics}; version=1.0.0; charset=utf-8`,
};

/** The client's own writer has only one format per registry, and no units. */
export function expose(families: readonly Family[], format: Format): string {
  const text = families.map((family) => exposeFamily(family, format)).join('');
  return format === 'openmetrics' ? `${text}# EOF\n` : text;
}

function exposeFamily({ name, help, kind, samples }: Family, format: Format): string {
  const open = format === 'openmetrics';
  const family = open && kind === 'counter' ? name.replace(/_total$/, '') : name;
  const unit = open ? unitForm.exec(family)?.[1] : undefined;
  const lines = [`# TYPE ${family} ${kind}`];
  if (unit) lines.push(`# UNIT ${family} ${unit}`);
  lines.push(`# HELP ${family} ${open ? escapeQuoted(help) : escapeText(help)}`);
  for (const { metricName = name, labels, value, exemplar } of samples) {
    const line = `${metricName}${exposeLabels(labels)} ${exposeNumber(value)}`;
    lines.push(open && exemplar ? line + exposeExemplar(exemplar) : line);
  }
  return `${lines.join('\n')}\n`;
}

const unitForm = /_(seconds|bytes)$/;

const exposeExemplar = ({ labelSet, value, timestamp }: Exemplar) =>
  ` # ${exposeLabels(labelSet) || '{}'} ${exposeNumber(value)} ${timestamp.toFixed(3)}`;

function exposeLabels(labels: Sample['labels']): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

const escapeLabel = (value: string | number) =>
  typeof value === 'number' ? exposeNumber(value) : escapeQuoted(value);

function exposeNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}

const escapeText = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeQuoted = (text: string) => escapeText(text).replaceAll('"', '\\"');
