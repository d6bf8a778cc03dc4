import { readFileSync } from 'node:fs';
import { commandLine } from '../../../src/cli.ts';
import { Refusal } from '../../../src/errors.ts';
import { runCommandLine, UsageError } from '../../../src/lib/cli/command.ts';
import { ConfigError, loadConfig } from '../../../src/settings.ts';

/** Runs commands in this process; what they print and say is as `askback` would. */
export function commandRunner(environment: Record<string, string>) {
  return async (...words: string[]) => {
    const said: string[] = [];
    const tools = {
      config: () => loadConfig(environment, (path) => readFileSync(path, 'utf8')),
      variables: () => Object.keys(environment),
      environment,
      say: (sentence: string) => void said.push(sentence),
      print: () => {},
      stopSignal: async () => 'SIGTERM',
    };
    const end = (code: number, stdout: string) => {
      return { code, stdout, stderr: said.map((line) => `${line}\n`).join('') };
    };
    try {
      const { output, exitCode } = await runCommandLine(commandLine, tools, words);
      return end(exitCode, output === '' ? '' : `${output}\n`);
    } catch (error) {
      if (
        !(error instanceof Refusal || error instanceof UsageError || error instanceof ConfigError)
      )
        throw error;
      said.push(`askback: ${error.message}`);
      if (error instanceof UsageError) said.push(`usage: askback ${error.usage}`);
      return end(error instanceof Refusal ? 1 : 2, '');
    }
  };
}
