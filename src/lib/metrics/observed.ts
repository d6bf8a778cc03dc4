import type { Family } from './exposition.ts';
import { type Instrument, knownLabels, type Readings } from './instrument.ts';

/** What was observed, as families. An instrument without readings is left out: no value is better than an old one. */
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
