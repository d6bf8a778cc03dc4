// The command line: commands with typed options and operands, help, JSON or text, exit codes, CSV.

import { type Command, type CommandOutcome, columns, UsageError } from './command.ts';
import { didYouMean } from './suggest.ts';

type Catalog<Tools> = { name: string; about: string; commands: readonly Command<Tools>[] };

/** Finds the command that the words begin with and runs it; without one, the first of the catalog. */
export async function runCommandLine<Tools>(
  catalog: Catalog<Tools>,
  tools: Tools,
  words: readonly string[],
): Promise<CommandOutcome> {
  const [first, second] = words;
  if (first === '--help' || first === '-h' || first === 'help') {
    return { output: overview(catalog, words.slice(1).join(' ')), exitCode: 0 };
  }
  const found = findCommand(catalog, words);
  const rest = found ? words.slice(found.taken) : [];
  const version = catalog.commands.find(({ name }) => name === 'version');
  if (version && ['--version', '-v', '-V'].includes(rest[0] ?? '')) {
    return await version.run(tools, rest.slice(1), catalog.name);
  }
  if (found) return await found.command.run(tools, rest, catalog.name);

  const group = groupOf(catalog, first ?? '');
  if (group.length > 0 && (second === '--help' || second === '-h')) {
    return { output: listing(group), exitCode: 0 };
  }
  throw new UsageError(complaintAbout(catalog, words, group), hint(catalog.name, group));
}

function findCommand<Tools>({ commands }: Catalog<Tools>, words: readonly string[]) {
  const [first] = words;
  if (first === undefined || first.startsWith('-')) return { command: commands[0]!, taken: 0 };
  for (const taken of [2, 1]) {
    const command = commands.find(({ name }) => name === words.slice(0, taken).join(' '));
    if (command) return { command, taken };
  }
  return undefined;
}

const groupOf = <Tools>({ commands }: Catalog<Tools>, word: string) =>
  commands.filter(({ name }) => name.startsWith(`${word} `));

const listing = <Tools>(commands: readonly Command<Tools>[]) =>
  columns(commands.map(({ name, does }) => [name, does]));

function complaintAbout<Tools>(
  { commands }: Catalog<Tools>,
  words: readonly string[],
  group: readonly Command<Tools>[],
) {
  const [first = '', second] = words;
  const dashed = second === undefined || second.startsWith('-');
  if (group.length > 0 && dashed) return `'${first}' needs a second word`;
  const names = commands.map(({ name }) => name);
  const both = `${first} ${second}`;
  if (group.length > 0) return `'${both}' is not a command${didYouMean(both, names)}`;
  const firsts = [...new Set(names.map((name) => name.split(' ')[0]!))];
  const meant = didYouMean(both, dashed ? [] : names) || didYouMean(first, firsts);
  return `'${first}' is not a command${meant}`;
}

function hint<Tools>(program: string, group: readonly Command<Tools>[]): string {
  if (group.length === 0) return `COMMAND; ${program} --help lists the commands`;
  return group.map(({ name }) => name).join(` | ${program} `);
}

function overview<Tools>(catalog: Catalog<Tools>, about: string): string {
  const named = catalog.commands.find(({ name }) => name === about);
  if (named) return named.help(catalog.name);
  const group = groupOf(catalog, about);
  if (group.length > 0) return listing(group);
  const { name, commands } = catalog;
  return `${catalog.about}\n\nusage: ${name} [COMMAND] [OPTIONS]\n\n${listing(commands)}\n\n${name} COMMAND --help explains each of them, ${name} --version prints the version.`;
}
