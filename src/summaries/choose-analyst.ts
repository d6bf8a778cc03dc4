import type { Analyst } from './analyst.ts';
import { createBuiltinAnalyst } from './builtin.ts';
import type { ProviderSettings } from './chat.ts';
import { createProvider } from './provider.ts';

/** The configured endpoint, or the one that needs no network. */
export const chooseAnalyst = ({ ai }: { ai: ProviderSettings | null }): Analyst =>
  ai ? createProvider(ai) : createBuiltinAnalyst();
