import type { Service } from './service.ts';

const newline = 10;
/** To look at the memory of a process halts it for a moment, and costs more than a part of the file. */
const lookEveryMs = 100;

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
  const look = setInterval(() => {
    most = Math.max(most, residentMegabytes() ?? 0);
  }, lookEveryMs);
  for await (const chunk of answer.body) {
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines++;
  }
  clearInterval(look);
  return { lines, ms: performance.now() - begun, grownBy: most - before };
}
