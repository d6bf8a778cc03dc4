import { createNoopMeter, type Meter, metrics } from '@opentelemetry/api';
import {
  type Instrument,
  knownLabels,
  type Labels,
  type Measurement,
  type Readings,
} from './recorder.ts';

export function openMeter(name: string): Meter | null {
  const meter = metrics.getMeter(name);
  return meter === createNoopMeter() ? null : meter;
}

export function createMeterRecorder(meter: Meter, instruments: readonly Instrument[]) {
  const recorded = instruments.filter(({ how }) => how === 'recorded');
  const writers = new Map(recorded.map((each) => [each.name, createWriter(meter, each)]));
  return (measurement: Measurement) => writers.get(measurement.name)?.(measurement);
}

function createWriter(meter: Meter, instrument: Instrument): (measurement: Measurement) => void {
  const { name, options } = describe(instrument);
  const attributes = (labels: Labels) => attributesOf(instrument, labels);
  if (instrument.kind === 'histogram') {
    const advice = { explicitBucketBoundaries: [...(instrument.buckets ?? [])] };
    const histogram = meter.createHistogram(name, { ...options, advice });
    return ({ labels, value = 0 }) => histogram.record(value, attributes(labels));
  }
  const counter = meter.createCounter(name, options);
  return ({ labels, value = 1 }) => counter.add(value, attributes(labels));
}

/** Reads the observed instruments whenever OpenTelemetry exports. Returns a function that stops this. */
export function observeFor(
  meter: Meter,
  instruments: readonly Instrument[],
  readings: () => Promise<Readings>,
): () => void {
  const observed = instruments.filter(({ how }) => how === 'observed');
  const observables = observed.map((instrument) => {
    const { name, options } = describe(instrument);
    const observable =
      instrument.kind === 'counter'
        ? meter.createObservableCounter(name, options)
        : meter.createObservableGauge(name, options);
    return { instrument, observable };
  });
  const observe: Parameters<Meter['addBatchObservableCallback']>[0] = async (result) => {
    const current = await readings();
    for (const { instrument, observable } of observables) {
      for (const { labels, value } of current[instrument.name] ?? []) {
        result.observe(observable, value, attributesOf(instrument, labels));
      }
    }
  };
  const all = observables.map(({ observable }) => observable);
  meter.addBatchObservableCallback(observe, all);
  return () => meter.removeBatchObservableCallback(observe, all);
}

/** OpenTelemetry names that convert back to the Prometheus names. */
function describe({ name, help, convention }: Instrument) {
  const bare = name.replace(/_total$/, '').replace(/_seconds$/, '');
  const options = { description: help, ...(name.endsWith('_seconds') ? { unit: 's' } : {}) };
  return { name: convention?.name ?? bare.replace('_', '.'), options };
}

function attributesOf(instrument: Instrument, labels: Labels): Labels {
  const known = knownLabels(instrument, labels);
  const { convention } = instrument;
  if (!convention) return known;
  return Object.fromEntries(
    Object.entries(known).map(([name, value]) => [convention.labels[name] ?? name, value]),
  );
}
