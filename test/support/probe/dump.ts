import { zstdDecompressSync } from 'node:zlib';
import { createSecrets } from '../../../src/lib/crypto/secrets.ts';
import type { Sql } from '../../../src/lib/db/db.ts';

type Table = { schema: string; name: string };

/**
 * The whole database as text by table: all columns and rows of all schemas. Bytes are also decoded as text,
 * decompressed and, with the key, decrypted.
 */
export async function dumpTables(sql: Sql, key?: Buffer): Promise<Map<string, string>> {
  const tables = await sql<Table[]>`
    select n.nspname as schema, c.relname as name
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'm') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')`;
  const dumped = new Map<string, string>();
  for (const { schema, name } of tables) {
    const rows = await sql<{ row: string }[]>`
      select to_jsonb(t)::text as row from ${sql(schema)}.${sql(name)} t`;
    const text = rows.map(({ row }) => decoded(row)).join('\n');
    dumped.set(
      name,
      name === 'idempotency_keys' && key ? text + (await openAnswers(sql, key)) : text,
    );
  }
  return dumped;
}

/** The text and everything that its `\x` byte literals decode to. */
export function decoded(text: string): string {
  const bytes = [...text.matchAll(/\\x((?:[0-9a-f]{2})+)/g)].map(([, hex]) =>
    Buffer.from(hex!, 'hex'),
  );
  return [text, ...bytes.flatMap((each) => [plain(each), unpacked(each)])].join('\n');
}

/** Decodes quoted-printable, which breaks lines and can encode any character. */
const plain = (bytes: Buffer) =>
  bytes
    .toString('latin1')
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

function unpacked(bytes: Uint8Array): string {
  try {
    return zstdDecompressSync(bytes).toString('utf8');
  } catch {
    return '';
  }
}

async function openAnswers(sql: Sql, key: Buffer): Promise<string> {
  const secrets = createSecrets([key]);
  const answers = await sql<{ owner: string; id: string; answer: Buffer }[]>`
    select k.org_id as owner, i.key_id || ' ' || i.name as id, i.answer
    from idempotency_keys i
    join api_keys k on k.id = i.key_id
    where i.answer is not null`;
  return answers
    .map(({ answer, ...place }) => unpacked(secrets.openBytes(place, answer)))
    .join('\n');
}
