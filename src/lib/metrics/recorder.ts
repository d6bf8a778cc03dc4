import { TraceFlags } from '@opentelemetry/api';
import { Counter, Histogram, Registry } from '@prometheus-io/client';
import { spanContextOf } from '../tracing/spans.ts';

export type Instrument = {
  name: string;
  kind: 'counter' | 'histogram' | 'gauge';
  help: string;
  /** `recorded` when something happens, or `observed` on each scrape. */
  how: 'recorded' | 'observed';
  /** Allowed values by label. Any other value becomes `other`. Null allows any value. */
  labels: Readonly<Record<string, readonly string[] | null>>;
  /** Export a counter as 0 for all label values before the first event. */
  fromZero?: boolean;
  buckets?: readonly number[];
};

export type Labels = Readonly<Record<string, string>>;

export type Measurement = { name: string; labels: Labels; value?: number };

export type Reading = { labels: Labels; value: number };

export type Readings = Readonly<Record<string, readonly Reading[]>>;

export type Family = {
  name: string;
  help: string;
  kind: 'counter' | 'gauge' | 'histogram' | 'summary';
  samples: readonly Sample[];
};

export type Sample = {
  /** `..._bucket`, `..._sum` or `..._count` of a family. */
  metricName?: string | undefined;
  labels: Readonly<Record<string, string | number>>;
  value: number;
  exemplar?: Exemplar | null | undefined;
};

export type Exemplar = {
  labelSet: Readonly<Record<string, string>>;
  value: number;
  timestamp: number;
};

export type Recorder = ReturnType<typeof createRecorder>;

type Trace = { trace_id: string };

/** The trace id, if the trace is sampled and can be looked up. */
export function traceOf(traceparent: string | null | undefined): Trace | null {
  if (!traceparent) return null;
  const { traceId, traceFlags } = spanContextOf(traceparent);
  return traceFlags === TraceFlags.SAMPLED ? { trace_id: traceId } : null;
}

export function createRecorder(instruments: readonly Instrument[]) {
  const registry = new Registry(Registry.OPENMETRICS_CONTENT_TYPE); // needed for exemplars
  const recorded = instruments.filter(({ how }) => how === 'recorded');
  const writers = new Map(recorded.map((each) => [each.name, createWriter(each, registry)]));
  return {
    record(measurement: Measurement, trace: Trace | null) {
      writers.get(measurement.name)?.(measurement, trace);
    },
    families: async () => (await registry.getMetricsAsJSON()).map(familyOf),
  };
}

type Writer = (measurement: Measurement, trace: Trace | null) => void;

function createWriter(instrument: Instrument, registry: Registry): Writer {
  const { name, help, kind, buckets = [] } = instrument;
  const labelNames = Object.keys(instrument.labels);
  const settings = { name, help, labelNames, registers: [registry], enableExemplars: true };
  if (kind === 'histogram') {
    const histogram = new Histogram({ ...settings, buckets: [...buckets] });
    return ({ labels, value = 0 }, trace) =>
      histogram.observe({ labels: knownLabels(instrument, labels), value, ...exemplar(trace) });
  }
  const counter = new Counter(settings);
  const start = instrument.fromZero ? allLabels(instrument) : [];
  for (const labels of start) counter.inc({ labels, value: 0 });
  return ({ labels, value = 1 }, trace) =>
    counter.inc({ labels: knownLabels(instrument, labels), value, ...exemplar(trace) });
}

const exemplar = (trace: Trace | null) => (trace ? { exemplarLabels: trace } : undefined);

type Exported = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];

export function familyOf({ name, help, type, values = [] }: Exported): Family {
  return {
    name,
    help,
    kind: type as unknown as Family['kind'],
    samples: values as Family['samples'],
  };
}

/** Leaves out instruments without readings, because a stale value is worse than none. */
export function observedFamilies(instruments: readonly Instrument[], readings: Readings): Family[] {
  return instruments.flatMap((instrument) => {
    const { name, help, kind } = instrument;
    const current = readings[name];
    if (!current || kind === 'histogram') return [];
    const samples = current.map(({ labels, value }) => ({
      labels: knownLabels(instrument, labels),
      value,
    }));
    return [{ name, help, kind, samples }];
  });
}

const other = 'other';

/** Replaces unknown label values, so that series never contain user input. */
export function knownLabels({ labels: allowed }: Instrument, labels: Labels): Labels {
  const result: Record<string, string> = {};
  for (const name in allowed) {
    const value = labels[name] ?? '';
    const values = allowed[name];
    result[name] = values == null || values.includes(value) ? value : other;
  }
  return result;
}

function allLabels({ labels }: Instrument): Labels[] {
  return Object.entries(labels).reduce<Labels[]>(
    (made, [name, values]) =>
      made.flatMap((rest) => (values ?? []).map((value) => ({ ...rest, [name]: value }))),
    [{}],
  );
}
