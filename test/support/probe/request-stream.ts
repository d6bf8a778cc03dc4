import { Agent, get, type RequestOptions } from 'node:http';

type RequestResult = { begun: number; ended: number; status: number | string };

type Callers = { fresh: number; keeping: number; headers: Record<string, string> };

/**
 * Clients that send requests one after the other until stopped. Some use a new connection each time, and some keep
 * theirs. A failure has its code instead of a status.
 */
export function requestStream(url: string, { fresh, keeping, headers }: Callers) {
  const requests: RequestResult[] = [];
  let going = true;
  const callers = [
    ...Array.from({ length: fresh }, () => false as const),
    ...Array.from({ length: keeping }, () => new Agent({ keepAlive: true, maxSockets: 1 })),
  ].map(async (agent) => {
    while (going) {
      const begun = performance.now();
      const status = await outcome(url, { agent, headers });
      requests.push({ begun, ended: performance.now(), status });
    }
    if (agent) agent.destroy();
  });
  return {
    requests,
    async end() {
      going = false;
      await Promise.all(callers);
    },
  };
}

function outcome(url: string, options: RequestOptions): Promise<number | string> {
  return new Promise((resolve) => {
    const request = get(url, options, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode!));
      response.once('error', (error: NodeJS.ErrnoException) => resolve(error.code!));
    });
    request.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}
