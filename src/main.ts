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

/** Signals within this time of the first one are one request. */
const sameRequestMs = 500;

const say = (sentence: string) => process.stderr.write(`${sentence}\n`);
const print = (text: string) => process.stdout.write(`${text}\n`);

const tools: CommandTools = {
  config: () => loadConfig(process.env, (path) => readFileSync(path, 'utf8')),
  environment: process.env,
  say,
  print,
  stopSignal,
};

/** Asks the service to stop in order, while one runs. */
let askToStop: ((why: string) => void) | undefined;

// A reader that has seen enough, such as `head -1`, is no failure.
process.stdout.on('error', () => {
  if (askToStop) askToStop('the end of its output');
  else process.exit(exitCodes.ok);
});
// Messages that are no longer read, as by `2>&1 | head`, end nothing.
process.stderr.on('error', () => {});
process.on('uncaughtException', endUnlessAway);
process.on('unhandledRejection', endUnlessAway);

const exitCode = await run(process.argv.slice(2));
// A long output may still be on its way into a pipe.
process.stdout.write('', () => process.exit(exitCode));

/**
 * Not from within the module's own frame: for the first stack trace with that frame in it, which the log takes at
 * its creation, V8 would parse the whole program again, for a third of the time that a start takes.
 */
async function run(words: readonly string[]): Promise<number> {
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
 * An error that no caller handles is a bug and ends the process. An exception is a lost connection: the driver
 * may report it in several places, callers that need the database get it anyway, and an outage must not end a
 * service that recovers after it.
 */
function endUnlessAway(error: unknown) {
  if (!isDatabaseAway(error) && !isLostConnection(error)) process.exit(report(error));
}

/** A failure is one sentence; its stack is shown only when it is asked for. */
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
 * The first signal asks to stop in order; a second one does not wait for that. One that comes with the first is the
 * same request: a terminal and `timeout` send theirs to the process and to its group.
 */
function stopSignal(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  askToStop = resolve;
  let askedAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      askedAt ??= performance.now();
      if (performance.now() - askedAt > sameRequestMs) process.exit(exitCodes.failed);
      resolve(signal);
    });
  }
  return promise;
}
