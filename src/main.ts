import { readFileSync } from 'node:fs';
import { commandLine } from './cli.ts';
import type { CommandTools } from './command-tools.ts';
import { Refusal } from './errors.ts';
import { runCommandLine, UsageError } from './lib/cli/command.ts';
import { explainError } from './lib/db/await-database.ts';
import { isDatabaseAway } from './lib/db/db.ts';
import { isLostConnection } from './lib/queue/connections.ts';
import { ConfigError, loadConfig } from './settings.ts';

const exitCodes = { ok: 0, failed: 1, wrongUsage: 2 } as const;

/** Signals within this time count as one. */
const sameSignalMs = 500;

const say = (sentence: string) => process.stderr.write(`${sentence}\n`);
const print = (text: string) => process.stdout.write(`${text}\n`);

const tools: CommandTools = {
  config: () => loadConfig(process.env, (path) => readFileSync(path, 'utf8')),
  environment: process.env,
  say,
  print,
  stopSignal,
};

/** Stops a running service gracefully. */
let askToStop: ((why: string) => void) | undefined;

// The reader of a pipe, such as `head -1`, may close it early.
process.stdout.on('error', () => {
  if (askToStop) askToStop('the end of its output');
  else process.exit(exitCodes.ok);
});
process.stderr.on('error', () => {});
process.on('uncaughtException', endUnlessAway);
process.on('unhandledRejection', endUnlessAway);

const exitCode = await run(process.argv.slice(2));
// Waits until the output is written.
process.stdout.write('', () => process.exit(exitCode));

async function run(words: readonly string[]): Promise<number> {
  // Leaves the module frame, because V8 parses the whole program again for the first stack trace with that frame.
  await undefined;
  try {
    const { output, exitCode } = await runCommandLine(commandLine, tools, words);
    if (output !== '') print(output);
    return exitCode;
  } catch (error) {
    return report(error);
  }
}

/**
 * Unhandled errors are bugs and end the process, except lost connections: the driver reports them in several places, and
 * the service recovers from them.
 */
function endUnlessAway(error: unknown) {
  if (!isDatabaseAway(error) && !isLostConnection(error)) process.exit(report(error));
}

/** Prints one sentence, and the stack with LOG_LEVEL=debug. */
function report(error: unknown): number {
  if (error instanceof UsageError) {
    say(`askback: ${error.message}\nusage: askback ${error.usage}`);
    return exitCodes.wrongUsage;
  }
  say(`askback: ${error instanceof Refusal ? error.message : explainError(error)}`);
  if (error instanceof ConfigError) return exitCodes.wrongUsage;
  if (process.env['LOG_LEVEL'] === 'debug') say(String((error as Error | null)?.stack));
  return exitCodes.failed;
}

/**
 * The first signal stops the service gracefully, and the second ends it at once. Signals right after the first count as
 * one, because terminals and `timeout` signal both the process and its group.
 */
function stopSignal(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  askToStop = resolve;
  let askedAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      askedAt ??= performance.now();
      if (performance.now() - askedAt > sameSignalMs) process.exit(exitCodes.failed);
      resolve(signal);
    });
  }
  return promise;
}
