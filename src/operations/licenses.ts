import type { CommandTools } from '../command-tools.ts';
import { command } from '../lib/cli/command.ts';
import { readAsset } from '../lib/process/assets.ts';

export const licenses = command({
  name: 'licenses',
  does: 'prints the licences of the software that askback contains',
  options: {},
  async run(_tools: CommandTools) {
    const text = readAsset('ops/licenses.txt').trimEnd();
    return { data: { licenses: text }, text };
  },
});
