import { watchProcess } from '../../../src/lib/metrics/process.ts';
import { instruments } from '../../../src/observations/instruments.ts';

/** Labels of a metric with their possible values, or null if these are unknown. */
type Labels = Readonly<Record<string, readonly string[] | null>>;
export type Known = Map<string, Labels>;

/** Labels that Prometheus adds to every series. */
const scraped: Labels = { job: null, instance: null };

/** Every metric name that a query may use: the service's own, the process's, and Prometheus's `up`. */
export async function knownMetrics(): Promise<Known> {
  const known: Known = new Map([['up', scraped]]);
  for (const { name, kind, labels } of instruments) {
    for (const [series, more] of seriesOf(name, kind))
      known.set(series, { ...labels, ...scraped, ...more });
  }
  for (const { name, kind } of await watchProcess()()) {
    for (const [series, more] of seriesOf(name, kind)) known.set(series, { ...scraped, ...more });
  }
  return known;
}

function seriesOf(name: string, kind: string): [name: string, more: Labels][] {
  if (kind !== 'histogram') return [[name, {}]];
  return [
    [`${name}_bucket`, { le: null }],
    [`${name}_sum`, {}],
    [`${name}_count`, {}],
  ];
}

type Matcher = { label: string; operator: string; value: string };
type Selector = { metric: string; matchers: Matcher[] };

/** Metrics of an expression, and its grouping labels. */
export function readQuery(expression: string): { selectors: Selector[]; groupedBy: string[] } {
  const groupedBy: string[] = [];
  const bare = expression
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g, (_, list) => {
      groupedBy.push(...list.split(/[\s,]+/).filter((label: string) => label !== ''));
      return ' ';
    })
    .replace(/\[[\w:$]+\]/g, ' ');
  const named = /([A-Za-z_:][\w:]*)\s*(\{(?:[^}"]|"(?:[^"\\]|\\.)*")*\}|\(|)/g;
  const selectors = [...bare.matchAll(named)]
    .filter(([, word, after]) => after !== '(' && !words.has(word!))
    .map(([, metric, after]) => ({ metric: metric!, matchers: readMatchers(after ?? '') }));
  return { selectors, groupedBy };
}

const words = new Set(['and', 'or', 'unless', 'sum', 'max', 'min', 'avg', 'count', 'bool']);

function readMatchers(text: string): Matcher[] {
  const each = text.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g);
  return [...each].map(([, label, operator, value]) => ({
    label: label!,
    operator: operator!,
    value: value!,
  }));
}

/** Describes metrics and labels of an expression that do not exist. */
export function complaintsAbout(expression: string, known: Known): string[] {
  const { selectors, groupedBy } = readQuery(expression);
  const complaints = selectors.flatMap(({ metric, matchers }) => {
    const labels = known.get(metric);
    if (!labels) return [`there is no metric ${metric}`];
    return matchers.flatMap((matcher) => complaintAbout(matcher, metric, labels));
  });
  const together = Object.assign({}, ...selectors.map(({ metric }) => known.get(metric)));
  const strange = groupedBy.filter((label) => !(label in together));
  if (selectors.length === 0) complaints.push('it asks for nothing');
  return [...complaints, ...strange.map((label) => `nothing has the label ${label}`)];
}

function complaintAbout({ label, operator, value }: Matcher, metric: string, labels: Labels) {
  if (!(label in labels)) return [`${metric} has no label ${label}`];
  const values = labels[label];
  if (!values || value.startsWith('$')) return [];
  const pattern = operator.includes('~') ? new RegExp(`^(?:${value})$`) : undefined;
  const meant = values.some((each) => (pattern ? pattern.test(each) : each === value));
  return meant ? [] : [`${label} of ${metric} is never ${value}`];
}
