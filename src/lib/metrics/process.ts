import { collectDefaultMetrics, Registry } from '@prometheus-io/client';
import { type Family, familyOf } from './recorder.ts';

/** Turns off a sampler of the client. Its two metrics are filtered out below. */
const neverMs = 0x7fff_ffff;

/**
 * The client's default of 10 ms would cost half of the CPU time of an idle process. The reported lag includes the
 * interval, so `correctLag` subtracts the additional 40 ms.
 */
const lagIntervalMs = 50;
const defaultLagIntervalMs = 10;

export function watchProcess(): () => Promise<Family[]> {
  const registry = new Registry();
  collectDefaultMetrics({
    register: registry,
    eventLoopUtilizationTimeout: neverMs,
    eventLoopMonitoringPrecision: lagIntervalMs,
  });
  return async () => {
    const families = (await registry.getMetricsAsJSON()).map(familyOf);
    return families.filter(isWellNamed).map(dropZeros).filter(isAvailable).map(correctLag);
  };
}

/** `promtool check metrics` rejects names that end in their kind. It allows `_total` only for counters. */
const isWellNamed = ({ name, kind }: Family) =>
  !/_(summary|histogram)$/.test(name) && (kind === 'counter' || !name.endsWith('_total'));

/** Read from /proc. Once the process has dropped its file permissions, the client reports 0. */
const fromFiles = /^process_(resident_memory|virtual_memory|heap)_bytes$|^process_(open|max)_fds$/;

function dropZeros(family: Family): Family {
  if (!fromFiles.test(family.name)) return family;
  const samples = family.samples.filter(({ value }) => value > 0);
  if (samples.length > 0 || family.name !== 'process_resident_memory_bytes')
    return { ...family, samples };
  return { ...family, samples: [{ labels: {}, value: process.memoryUsage.rss() }] };
}

const isAvailable = ({ name, samples }: Family) => samples.length > 0 || !fromFiles.test(name);

const lag = /^nodejs_eventloop_lag_(?:min|max|mean|p50|p90|p99)_seconds$/;

/** Converts the lag to what the client reports with its default interval. */
function correctLag(family: Family): Family {
  if (!lag.test(family.name)) return family;
  const tooLong = (lagIntervalMs - defaultLagIntervalMs) / 1000;
  const samples = family.samples.map((one) => ({
    ...one,
    value: Math.max(one.value - tooLong, 0),
  }));
  return { ...family, samples };
}
