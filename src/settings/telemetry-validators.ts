import * as v from 'valibot';
import { whole } from './validators.ts';

const noGrpc =
  'is not spoken by askback: use http/protobuf or http/json, and the port of the collector for HTTP, 4318 as a rule';

const split = (text: string) => text.split(',').map((word) => word.trim());

export const oneOf = (...allowed: string[]) =>
  v.picklist(allowed, `must be one of ${allowed.join(', ')}`);
export const someOf = (...allowed: string[]) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => split(text).every((word) => allowed.includes(word)),
      `must be one or more of ${allowed.join(', ')}`,
    ),
  );
/** The console exporter would print into the program's own output; the Prometheus one listens without access control. */
export const exporters = v.pipe(
  v.string(),
  v.check(
    (text) => !split(text).includes('console'),
    'console would mix with the output: use otlp',
  ),
  v.check(
    (text) => !split(text).includes('prometheus'),
    'prometheus is /metrics: use otlp or none',
  ),
  v.check(
    (text) => split(text).every((word) => /^(otlp|none|console|prometheus)$/.test(word)),
    'must be one or more of otlp, none',
  ),
);
export const count = whole(1, 999_999_999);
export const pairs = v.pipe(
  v.string(),
  v.check((text) => split(text).every(isPair), 'must be name=value,name=value, percent-encoded'),
);
export const headers = v.pipe(
  pairs,
  v.check((text) => split(text).every(isHeader), 'must have names and values that HTTP can carry'),
);
export const protocol = v.pipe(
  v.string(),
  v.check((text) => text !== 'grpc', `grpc ${noGrpc}`),
  v.check(
    (text) => /^(grpc|http\/(protobuf|json))$/.test(text),
    'must be http/protobuf or http/json',
  ),
);
export const ratio = v.pipe(
  v.string(),
  v.check((text) => /^\d*\.?\d+$/.test(text) && Number(text) <= 1, 'must be a number from 0 to 1'),
);

function isPair(text: string): boolean {
  if (text === '') return true;
  try {
    return /^[^=]+=/.test(text) && decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

/** An export with a header that HTTP cannot carry would fail each time. */
function isHeader(text: string): boolean {
  if (text === '' || !isPair(text)) return true; // another check reports it
  const at = text.indexOf('=');
  const name = decodeURIComponent(text.slice(0, at)).trim();
  const value = decodeURIComponent(text.slice(at + 1));
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
