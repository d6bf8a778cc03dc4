/** A metric with all its series, however it came to be. */
export type Family = {
  name: string;
  help: string;
  kind: 'counter' | 'gauge' | 'histogram' | 'summary';
  samples: readonly Sample[];
};

type Sample = {
  /** Where it is not the family's own: `..._bucket`, `..._sum`, `..._count`. */
  metricName?: string | undefined;
  labels: Readonly<Record<string, string | number>>;
  value: number;
  exemplar?: Exemplar | null | undefined;
};

type Exemplar = { labelSet: Readonly<Record<string, string>>; value: number; timestamp: number };

export type Format = 'prometheus' | 'openmetrics';

export const contentTypes: Readonly<Record<Format, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/**
 * The metrics as text. The client's own writer knows one format a registry and no units, and both formats
 * are asked for side by side.
 */
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

/** OpenMetrics wants a unit to be the end of the name. */
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
