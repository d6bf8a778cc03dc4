import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

type Environment = Readonly<Record<string, string>>;

export const secretKey = Buffer.alloc(32, 7).toString('base64');
const source = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
/** The bundle starts four times as fast as the source. Only `test/run.ts` builds it. */
const bundled = process.env['TEST_PROGRAM'];

/** The program with this entry file: the current one, or another version. */
export const programAt = (entry: string) => ({
  /** Runs the real command line to its end, with only this environment. */
  askback: (
    words: readonly string[],
    environment: Environment = {},
    { sockets = [], input }: { sockets?: readonly number[]; input?: Buffer } = {},
  ) => runToItsEnd(start(entry, words, { environment, sockets, input })),
  /** Starts the real service, which is killed when the test file ends. Sockets are passed as by a service manager. */
  startService: (
    environment: Environment,
    words: readonly string[] = ['serve'],
    sockets: readonly number[] = [],
  ) => attend(start(entry, words, { environment, sockets })),
});

export const program = programAt(bundled ?? source);
export const { askback, startService } = program;

/** For tests that look at loaded modules, which a bundle hides. */
export const fromSource = programAt(source);

async function runToItsEnd(child: ChildProcess) {
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

function attend(child: ChildProcess) {
  after(() => child.kill('SIGKILL'));
  const [stdout, stderr] = [follow(child.stdout!), follow(child.stderr!)];
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  return {
    child,
    stderr,
    exited,
    /** The line with the address of the service. */
    ready: () => stdout.next(/./),
    async stop() {
      child.kill('SIGTERM');
      return await exited;
    },
  };
}

export const addressIn = (line: string) => /http:\S+/.exec(line)![0];

const compiled: Environment = bundled ? { NODE_COMPILE_CACHE: join(dirname(bundled), 'code') } : {};

type Given = {
  environment: Environment;
  sockets: readonly number[];
  /** Standard input. */
  input?: Buffer | undefined;
};

function start(
  entry: string,
  words: readonly string[],
  { environment, sockets, input }: Given,
): ChildProcess {
  const loader = entry.endsWith('.ts') ? ['--import', 'tsx'] : [];
  const program = [process.execPath, ...loader, entry, ...words];
  const [file, ...rest] = sockets.length > 0 ? [...withListenPid, ...program] : program;
  const passed = sockets.length > 0 ? { LISTEN_FDS: `${sockets.length}` } : {};
  const child = spawn(file!, rest, {
    env: { PATH: process.env['PATH'] ?? '', ...compiled, ...passed, ...environment },
    stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe', ...sockets],
  });
  child.stdin?.end(input);
  return child;
}

/** Starts a program with LISTEN_PID set to its own process id, which its parent cannot know in advance. */
const withListenPid = [
  'sh',
  '-c',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell fills it in
  'export LISTEN_PID=${LISTEN_PID:-$$}; exec "$@"',
  'sh',
];

/** Lines of a stream: all lines so far, and the first line that matches, now or later. */
function follow(stream: NodeJS.ReadableStream) {
  const lines: string[] = [];
  const waiting: {
    pattern: RegExp;
    resolve: (line: string) => void;
    reject: (e: Error) => void;
  }[] = [];
  createInterface({ input: stream })
    .on('line', (line) => {
      lines.push(line);
      for (const { pattern, resolve } of waiting) if (pattern.test(line)) resolve(line);
    })
    .on('close', () => {
      for (const { pattern, reject } of waiting)
        reject(new Error(`${pattern} never came:\n${lines.join('\n')}`));
    });
  return {
    lines,
    next(pattern: RegExp): Promise<string> {
      const found = lines.find((line) => pattern.test(line));
      if (found !== undefined) return Promise.resolve(found);
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      waiting.push({ pattern, resolve, reject });
      return promise;
    },
  };
}
