import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { v8Options } from '../../ops/build/v8-options.ts';
import { freePort } from '../support/processes/free-port.ts';

const source = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** The bundle starts in a quarter of the time of the source. The executable is what operators run. */
const command = (): [string, ...string[]] => {
  const program = process.env['TEST_PROGRAM'];
  if (!program) return [process.execPath, '--import', 'tsx', source];
  return program.endsWith('.mjs') ? [process.execPath, ...v8Options, program] : [program];
};
/** A start without a database connection exits, and the supervisor restarts it. */
const lost = /^askback: the database cannot be reached/;
const startMs = 120_000;

/**
 * A service under a supervisor: it keeps its address and is restarted after a kill. Unexpected output is kept for the
 * report.
 */
export async function createService(environment: Readonly<Record<string, string>>) {
  const port = freePort();
  const ended: string[] = [];
  const logged: string[] = [];
  let child: ChildProcess | undefined;
  let asked = false;

  async function start() {
    const [file, ...words] = command();
    const own = spawn(file, [...words, 'serve'], {
      env: { PATH: process.env['PATH'] ?? '', ...environment, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = own;
    asked = false;
    const said: string[] = [];
    createInterface({ input: own.stderr! }).on('line', (line) => {
      said.push(line);
      logged.push(line);
    });
    let isReady = false;
    const lostBeforeReady = () => !isReady && lost.test(said.at(-1) ?? '');
    own.once('close', (code) => {
      if (code !== null && !(asked && code === 0) && !lostBeforeReady())
        ended.push(`ended by itself with ${code}: ${said.slice(-5).join(' / ')}`);
    });
    const ready = once(createInterface({ input: own.stdout! }), 'line').then(() => {
      isReady = true;
    });
    const late = AbortSignal.timeout(startMs);
    await Promise.race([ready, once(own, 'close'), once(late, 'abort')]);
    if (isReady) return;
    if (own.exitCode !== null && lostBeforeReady()) return await start();
    throw new Error(`it did not start: ${said.slice(-5).join(' / ')}`);
  }

  /** Returns when the process is gone. */
  async function kill() {
    const own = child;
    if (!own || own.exitCode !== null || own.signalCode !== null) return;
    own.kill('SIGKILL');
    await once(own, 'exit');
  }

  /** Stops the service gracefully, as a supervisor does. */
  async function stop() {
    asked = true;
    child?.kill('SIGTERM');
    await once(child!, 'close'); // waits for its last line, which must not count for the next start
  }

  return { address: `http://127.0.0.1:${port}`, ended, logged, start, kill, stop };
}

export type Service = Awaited<ReturnType<typeof createService>>;
