import { obtainSecretKey } from '../lib/crypto/secret-key.ts';
import { createSecrets } from '../lib/crypto/secrets.ts';
import type { Config } from './config.ts';

/** What seals and opens secrets, with the configured key or the one in the data directory. */
export function configuredSecrets({ secretKey, previousSecretKey }: Config, dataDir: string) {
  const key = secretKey ?? obtainSecretKey(dataDir);
  return createSecrets(previousSecretKey ? [key, previousSecretKey] : [key]); // both during a rotation
}
