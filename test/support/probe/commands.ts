import { commandLine } from '../../../src/cli.ts';
import type { CommandTools } from '../../../src/command-tools.ts';
import { runCommandLine, UsageError } from '../../../src/lib/cli/command.ts';
import { loadConfig } from '../../../src/settings.ts';

export const secretKey = Buffer.alloc(32, 7).toString('base64');

/** Tools of a command that runs in this process; `out` gets what it prints and says. */
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

/** Runs commands in this process: the exit code, and the output or the complaint. */
export const commandRunner =
  (environment: Record<string, string>) =>
  async (...words: string[]) => {
    let text = '';
    const tools = commandTools(environment, (line) => {
      text += `${line}\n`;
    });
    try {
      const { output, exitCode } = await runCommandLine(commandLine, tools, words);
      return { code: exitCode, text: text + output };
    } catch (error) {
      return { code: error instanceof UsageError ? 2 : 1, text: (error as Error).message };
    }
  };
