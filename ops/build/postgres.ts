import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import {
  type ArchiveRecord,
  checksum,
  fromCheckout,
  fromFolder,
  pack,
} from '../../src/lib/embedded-postgres/archive.ts';

const cache = '.cache';
const idLength = 12;

/** Packs the embedded Postgres into one compressed file, cached because that takes most of a minute. */
export function packPostgres(): { archive: string; record: string } {
  const folder = process.env['POSTGRES'];
  const distribution = folder ? fromFolder(folder, postgresVersionOf(folder)) : fromCheckout();
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

export function postgresVersionOf(folder: string): string {
  const { stdout, stderr } = spawnSync(`${folder}/bin/postgres`, ['--version'], {
    encoding: 'utf8',
  });
  const version = stdout?.match(/ (18\.\d+)/)?.[1];
  if (version) return version;
  const printed = (stdout || stderr || 'no bin/postgres').trim();
  console.error(`POSTGRES must name a folder with PostgreSQL 18. ${folder} has: ${printed}`);
  process.exit(2);
}
