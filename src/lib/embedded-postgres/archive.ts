import { hash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/** What a Postgres consists of: files with their checksums, and links between them. */
export type Manifest = { files: PackedFile[]; links: { path: string; target: string }[] };
export type PackedFile = { path: string; executable: boolean; size: number; sha256: string };

/** A manifest with the bytes of its files. */
export type Contents = { manifest: Manifest; read(file: PackedFile): Uint8Array };

/** The best ratio that still unpacks at full speed; it costs a minute, once, when the binary is built. */
const compressionLevel = 19;
const lengthBytes = 4;

/** One compressed block: the manifest behind its length, then the files in its order. */
export function pack({ manifest, read }: Contents): Uint8Array {
  const index = Buffer.from(JSON.stringify(manifest));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(index.length);
  const whole = Buffer.concat([length, index, ...manifest.files.map(read)]);
  return zstdCompressSync(whole, {
    params: { [constants.ZSTD_c_compressionLevel]: compressionLevel },
    pledgedSrcSize: whole.length,
  });
}

export function open(archive: Uint8Array): Contents {
  const whole = zstdDecompressSync(archive);
  const start = lengthBytes + whole.readUInt32LE(0);
  const manifest = JSON.parse(whole.toString('utf8', lengthBytes, start)) as Manifest;
  const offsets = new Map<string, number>();
  let offset = start;
  for (const { path, size } of manifest.files) {
    offsets.set(path, offset);
    offset += size;
  }
  return {
    manifest,
    read: ({ path, size }) => whole.subarray(offsets.get(path)!, offsets.get(path)! + size),
  };
}

export const checksum = (bytes: Uint8Array) => hash('sha256', bytes, 'hex');
