import type { Instrument } from '../lib/metrics/instrument.ts';
import { observed } from './observed-instruments.ts';
import { recorded } from './recorded-instruments.ts';

export const instruments: readonly Instrument[] = [
  ...recorded.map((each) => ({ ...each, how: 'recorded' as const })),
  ...observed.map((each) => ({ ...each, how: 'observed' as const })),
];
