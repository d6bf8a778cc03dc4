import { Hono } from 'hono';
import { type MetricsAccess, refuseStranger } from './access.ts';
import { contentTypes, expose, type Family, type Format } from './exposition.ts';

export type MetricsTools = { families: () => Promise<Family[]>; access: MetricsAccess };

/** `GET /metrics`, in the format that the client likes better. */
export const metricsRoutes = ({ families, access }: MetricsTools) =>
  new Hono().get('/metrics', async (c) => {
    refuseStranger(c, access);
    const format = formatFor(c.req.header('Accept') ?? '');
    return c.body(expose(await families(), format), 200, {
      'Content-Type': contentTypes[format],
      'Cache-Control': 'no-store',
      Vary: 'Accept',
    });
  });

/** Prometheus names OpenMetrics first and plain text with a smaller weight; everybody else reads text. */
export function formatFor(accept: string): Format {
  const weights = new Map(
    accept
      .split(',')
      .map(weightOf)
      .sort(([, a], [, b]) => a - b),
  );
  const open = weights.get('application/openmetrics-text') ?? 0;
  return open > 0 && open >= (weights.get('text/plain') ?? 0) ? 'openmetrics' : 'prometheus';
}

function weightOf(range: string): [string, number] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return [type, weight === undefined ? 1 : Number(weight.slice(2)) || 0];
}
