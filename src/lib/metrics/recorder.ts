import { TraceFlags } from '@opentelemetry/api';
import { Counter, Histogram, Registry } from '@prometheus-io/client';
import { spanContextOf } from '../tracing/spans.ts';

export type Instrument = {
  name: string;
  kind: 'counter' | 'histogram' | 'gauge';
  help: string;
  /** `recorded` when something happens, or `observed` when somebody asks. */
  how: 'recorded' | 'observed';
  /**
   * Each label with all values that it can have; any other counts as `other`. Null where the values are
   * not known here, but are few by their nature.
   */
  labels: Readonly<Record<string, readonly string[] | null>>;
  /** A counter that is there with 0 for each of its labels' values before anything happens. */
  fromZero?: boolean;
  buckets?: readonly number[];
  /** How OpenTelemetry's conventions spell it and its labels, where they know such a thing. */
  convention?: { name: string; labels: Readonly<Record<string, string>> };
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
  /** The name of a part of the family: `..._bucket`, `..._sum`, `..._count`. */
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

/** The trace of a measurement, if it is sampled: only those can be looked at. */
export function traceOf(traceparent: string | null | undefined): Trace | null {
  if (!traceparent) return null;
  const { traceId, traceFlags } = spanContextOf(traceparent);
  return traceFlags === TraceFlags.SAMPLED ? { trace_id: traceId } : null;
}

export function createRecorder(instruments: readonly Instrument[]) {
  const registry = new Registry(Registry.OPENMETRICS_CONTENT_TYPE); // the other kind knows no exemplars
  const recorded = instruments.filter(({ how }) => how === 'recorded');
  const cells = new Map(recorded.map((each) => [each.name, cellOf(each, registry)]));
  return {
    /** The trace, where there is one, becomes the exemplar of the series it was measured in. */
    record(measurement: Measurement, trace: Trace | null) {
      cells.get(measurement.name)?.(measurement, trace);
    },
    families: async () => (await registry.getMetricsAsJSON()).map(familyOf),
  };
}

type Cell = (measurement: Measurement, trace: Trace | null) => void;

function cellOf(instrument: Instrument, registry: Registry): Cell {
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

/** Leaves an instrument without readings out: no value is better than an old one. */
export function observedFamilies(instruments: readonly Instrument[], readings: Readings): Family[] {
  return instruments.flatMap((instrument) => {
    const { name, help, kind } = instrument;
    const read = readings[name];
    if (!read || kind === 'histogram') return [];
    const samples = read.map(({ labels, value }) => ({
      labels: knownLabels(instrument, labels),
      value,
    }));
    return [{ name, help, kind, samples }];
  });
}

const other = 'other';

/** Replaces label values that the instrument does not know, so that a series never holds what a stranger wrote. */
export function knownLabels({ labels: known }: Instrument, given: Labels): Labels {
  const labels: Record<string, string> = {};
  for (const name in known) {
    const value = given[name] ?? '';
    const values = known[name];
    labels[name] = values == null || values.includes(value) ? value : other;
  }
  return labels;
}

function allLabels({ labels }: Instrument): Labels[] {
  return Object.entries(labels).reduce<Labels[]>(
    (made, [name, values]) =>
      made.flatMap((rest) => (values ?? []).map((value) => ({ ...rest, [name]: value }))),
    [{}],
  );
}
