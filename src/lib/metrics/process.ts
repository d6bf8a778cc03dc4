import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import { type Family, familyOf } from './recorder.ts';

/** The client would sample ten times a second for two metrics that are left out below. */
const neverMs = 0x7fff_ffff;

/**
 * How often the client looks how late the event loop is. Its own 10 ms would cost half of what the process takes at
 * rest. The values that it shows include the time between two looks, and are shown as with its own.
 */
const lagEveryMs = 50;
const lagShownFromMs = 10;

export function watchProcess(): () => Promise<Family[]> {
  const registry = new Registry();
  collectDefaultMetrics({
    register: registry,
    eventLoopUtilizationTimeout: neverMs,
    eventLoopMonitoringPrecision: lagEveryMs,
  });
  return async () => {
    const families = (await registry.getMetricsAsJSON()).map(familyOf);
    return families.filter(isWellNamed).map(onlyKnown).filter(isKnown).map(asLooked);
  };
}

/** `promtool check metrics` objects to these: a kind in the name, or `_total` on what is no counter. */
const isWellNamed = ({ name, kind }: Family) =>
  !/_(summary|histogram)$/.test(name) && (kind === 'counter' || !name.endsWith('_total'));

/**
 * These are read from /proc, which is out of reach once the process has given up its files. They would
 * then be shown as 0; the one that matters most is known in another way too.
 */
const fromFiles = /^process_(resident_memory|virtual_memory|heap)_bytes$|^process_(open|max)_fds$/;

function onlyKnown(family: Family): Family {
  if (!fromFiles.test(family.name)) return family;
  const samples = family.samples.filter(({ value }) => value > 0);
  if (samples.length > 0 || family.name !== 'process_resident_memory_bytes')
    return { ...family, samples };
  return { ...family, samples: [{ labels: {}, value: process.memoryUsage.rss() }] };
}

const isKnown = ({ name, samples }: Family) => samples.length > 0 || !fromFiles.test(name);

const lag = /^nodejs_eventloop_lag_(?:min|max|mean|p50|p90|p99)_seconds$/;

/** Seconds of lag as the client shows them with its own time between two looks. */
function asLooked(family: Family): Family {
  if (!lag.test(family.name)) return family;
  const tooLong = (lagEveryMs - lagShownFromMs) / 1000;
  const samples = family.samples.map((one) => ({
    ...one,
    value: Math.max(one.value - tooLong, 0),
  }));
  return { ...family, samples };
}
