import type { Analyst } from './analyst.ts';
import { createBuiltinAnalyst, type ReadComment } from './builtin.ts';
import type { ProviderSettings } from './chat.ts';
import { createProvider } from './provider.ts';

/** The configured endpoint, or the one that needs no network. */
export const chooseAnalyst = (
  { ai }: { ai: ProviderSettings | null },
  reader: { analyze: ReadComment },
): Analyst => (ai ? createProvider(ai) : createBuiltinAnalyst(reader.analyze));
