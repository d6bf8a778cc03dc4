import { commandLine } from '../../../src/cli.ts';
import type { CommandTools } from '../../../src/command-tools.ts';
import { Refusal } from '../../../src/errors.ts';
import { runCommandLine, UsageError } from '../../../src/lib/cli/command.ts';
import { ConfigError, loadConfig } from '../../../src/settings.ts';

/** Tools of a command that runs in this process. `out` collects its output. */
export const commandTools = (
  environment: Record<string, string>,
  out: (text: string) => void = () => {},
): CommandTools => ({
  config: () => loadConfig(environment, () => ''),
  environment,
  say: out,
  print: out,
  stopSignal: async () => 'SIGTERM',
});

/** Runs commands in this process. Returns both outputs and the exit code. */
export function commandRunner(environment: Record<string, string>) {
  return async (...words: string[]) => {
    let stderr = '';
    const tools = commandTools(environment, (line) => {
      stderr += `${line}\n`;
    });
    try {
      const { output, exitCode } = await runCommandLine(commandLine, tools, words);
      return { code: exitCode, stdout: output === '' ? '' : `${output}\n`, stderr };
    } catch (error) {
      if (
        !(error instanceof Refusal || error instanceof UsageError || error instanceof ConfigError)
      )
        throw error;
      stderr += `askback: ${error.message}\n`;
      if (error instanceof UsageError) stderr += `usage: askback ${error.usage}\n`;
      return { code: error instanceof Refusal ? 1 : 2, stdout: '', stderr };
    }
  };
}
