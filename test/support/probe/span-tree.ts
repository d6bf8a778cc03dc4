import type { Span } from '../fakes/collector.ts';

/** Text after the name of a span. */
type Show = (span: Span) => string;

/** Spans of a trace as text, each below its parent, in order of start. */
export function spanTree(spans: readonly Span[], show: Show = withTimes(spans)): string {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const below = (parent: string | null) =>
    spans
      .filter(({ parentSpanId: id }) => (id !== null && known.has(id) ? id : null) === parent)
      .toSorted((a, b) => a.startMs - b.startMs);
  const lines = (parent: string | null, depth: number): string[] =>
    below(parent).flatMap((span) => [
      `${'  '.repeat(depth)}${show(span)}`,
      ...lines(span.spanId, depth + 1),
    ]);
  return lines(null, 0).join('\n');
}

/** Start since the first span, duration, and outcome. */
function withTimes(spans: readonly Span[]): Show {
  const first = Math.min(...spans.map(({ startMs }) => startMs));
  return ({ name, kind, startMs, ms, attributes, links, failed }) => {
    const status = attributes['http.response.status_code'] ?? attributes['askback.send.outcome'];
    const marks = [status, failed && 'failed', links.length > 0 && `→ ${links.join(', ')}`];
    const times = `+${(startMs - first).toFixed(1)} ms, ${ms.toFixed(1)} ms`;
    return [`${name} (${kind.toLowerCase()})`, times, ...marks.filter(Boolean)].join('  ');
  };
}
