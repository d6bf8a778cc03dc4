// Metrics: counts and histograms, written for Prometheus and for OpenTelemetry.

import { TraceFlags } from '@opentelemetry/api';
import { Counter, Histogram, Registry } from '@prometheus-io/client';
import { spanContextOf } from '../tracing/traceparent.ts';
import type { Family } from './exposition.ts';
import {
  allLabels,
  type Instrument,
  knownLabels,
  type Labels,
  type Measurement,
} from './instrument.ts';

export type Recorder = {
  /** The trace, where there is one, becomes the exemplar of the series it was measured in. */
  record: (measurement: Measurement, trace: Trace | null) => void;
  families: () => Promise<Family[]>;
};

export type Trace = { trace_id: string };

/** The trace of what happened, if it is one that can be looked at: only sampled traces are kept. */
export function traceOf(traceparent: string | null | undefined): Trace | null {
  if (!traceparent) return null;
  const { traceId, traceFlags } = spanContextOf(traceparent);
  return traceFlags === TraceFlags.SAMPLED ? { trace_id: traceId } : null;
}

/** Counts and measures what is recorded, from the start of the process. */
export function createRecorder(instruments: readonly Instrument[]): Recorder {
  const registry = new Registry(Registry.OPENMETRICS_CONTENT_TYPE); // the other kind knows no exemplars
  const recorded = instruments.filter(({ how }) => how === 'recorded');
  const cells = new Map(recorded.map((each) => [each.name, cellOf(each, registry)]));
  return {
    record(measurement, trace) {
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
  const know = knower(instrument);
  if (kind === 'histogram') {
    const histogram = new Histogram({ ...settings, buckets: [...buckets] });
    return ({ labels, value = 0 }, trace) =>
      histogram.observe({ labels: know(labels), value, ...exemplar(trace) });
  }
  const counter = new Counter(settings);
  const start = instrument.fromZero ? allLabels(instrument) : [];
  for (const labels of start) counter.inc({ labels, value: 0 });
  return ({ labels, value = 1 }, trace) =>
    counter.inc({ labels: know(labels), value, ...exemplar(trace) });
}

const exemplar = (trace: Trace | null) => (trace ? { exemplarLabels: trace } : undefined);

/** What is known already, which is all but always, is passed on as it is. */
function knower(instrument: Instrument) {
  const known = new Map(
    Object.entries(instrument.labels).map(([name, values]) => [name, values && new Set(values)]),
  );
  return (given: Labels): Labels => {
    let labels = 0;
    for (const name in given) {
      const values = known.get(name);
      const isKnown = values === null || values?.has(given[name]!);
      if (!isKnown) return knownLabels(instrument, given);
      labels += 1;
    }
    return labels === known.size ? given : knownLabels(instrument, given);
  };
}

type Exported = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];

/** A family as the client exports it; its types leave out what only some kinds have. */
export function familyOf({ name, help, type, values = [] }: Exported): Family {
  return {
    name,
    help,
    kind: type as unknown as Family['kind'],
    samples: values as Family['samples'],
  };
}
