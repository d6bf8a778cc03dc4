import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import type { CommandTools } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { command } from '../lib/cli/command.ts';
import { flag, option } from '../lib/cli/options.ts';
import { writeTextFile } from '../lib/cli/write-file.ts';
import { listAssets, readAsset } from '../lib/process/assets.ts';

const root = 'ops/';
/** Pages for developers of askback; they lead to files that are only in its repository. */
const developerPages = ['architecture.md', 'benchmarks.md'];

/** The folders of examples: alerts, dashboard, collector, receivers of webhooks, units, a manifest. */
export const exampleFolders = [
  'grafana',
  'kubernetes',
  'otel',
  'prometheus',
  'systemd',
  'webhooks',
];

/** Files for operators as they lie in the repository, without its `ops/`: pages, and examples they link to. */
export function operatorFiles(): string[] {
  const pages = listAssets(root).filter((name) => name.endsWith('.md'));
  const examples = exampleFolders.flatMap((folder) => listAssets(`${root}${folder}/`));
  return [...pages, ...examples]
    .map((name) => name.slice(root.length))
    .filter((name) => !developerPages.includes(name) && !/\/.*\//.test(name))
    .filter((name) => name.includes('/') || name.endsWith('.md'));
}

export const files = command({
  name: 'files',
  does: 'writes the manual, alert rules, the dashboard and other examples into a folder',
  options: {
    dir: option(v.string(), 'DIR', 'the folder, which is made if it is not there'),
    force: flag('overwrite files that exist'),
  },
  operands: ['dir'],
  async run(_tools: CommandTools, { dir, force }) {
    const names = operatorFiles();
    const present = names.find((name) => existsSync(join(dir, name)));
    if (present && !force) {
      throw new Refusal(
        'conflict',
        `${join(dir, present)} exists: name another folder, or --force`,
      );
    }
    for (const name of names) {
      writeTextFile(join(dir, name), readAsset(`${root}${name}`));
    }
    return { data: { dir, files: names }, text: `wrote ${names.length} files to ${dir}` };
  },
});
