import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import {
  type ArchiveRecord,
  checksum,
  fromCheckout,
  pack,
} from '../../src/lib/embedded-postgres/archive.ts';

const cache = '.cache';
const idLength = 12;

/** The embedded Postgres as one compressed file. Kept: compressing it takes most of a minute. */
export function packPostgres(): { archive: string; record: string } {
  const distribution = fromCheckout();
  const contents = distribution.open();
  const fingerprint = checksum(Buffer.from(JSON.stringify(contents.manifest))).slice(0, idLength);
  const id = `${distribution.id}-${fingerprint}`;
  const archive = `${cache}/postgres-${id}.zst`;
  const record = `${cache}/postgres-${id}.json`;
  if (existsSync(record)) return { archive, record };

  console.log('compressing Postgres (a minute, once)...');
  mkdirSync(cache, { recursive: true });
  writeFileSync(archive, pack(contents));
  const written: ArchiveRecord = { id, sha256: checksum(readFileSync(archive)) };
  writeFileSync(record, JSON.stringify(written));
  return { archive, record };
}
