import type { Service } from './service.ts';

const newline = 10;

/** Reads a file to its end: its lines, how long it took, and by how much the service grew meanwhile. */
export async function readExport(
  { port, residentMegabytes }: Pick<Service, 'port' | 'residentMegabytes'>,
  { path, key }: { path: string; key: string },
) {
  const before = residentMegabytes() ?? 0;
  const begun = performance.now();
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'X-API-Key': key } });
  if (!answer.ok || !answer.body) throw new Error(`${path} is answered ${answer.status}`);
  let [lines, most] = [0, before];
  for await (const chunk of answer.body) {
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines++;
    most = Math.max(most, residentMegabytes() ?? 0);
  }
  return { lines, ms: performance.now() - begun, grownBy: most - before };
}
