import type { keptScreens } from '../support/walls/kept-screens.ts';
import type { Reader } from './scene/organizations.ts';

/** The frames around pages, which many share: each is kept once, under its name. */
export function keptFrames(kept: Pick<ReturnType<typeof keptScreens>, 'compare'>) {
  const frames = new Map<string, string>();
  return {
    /** The name of a frame: of its reader and the organization, and where it says that the reader is. */
    nameOf(frame: readonly string[], reader: Reader | null): string {
      const all = frame.join('\n');
      const [current, place = 'nowhere'] = /href="([^"]*)" aria-current="page"/.exec(all) ?? [];
      const text = current ? all.replace(' aria-current="page"', '') : all;
      const organization = /href="\/o\/([\w-]+)" aria-current="true"/.exec(all)?.[1] ?? 'alone';
      const name = `${(reader ?? 'visitor').replaceAll(' ', '-')}-${organization}`;
      for (let version = 1; ; version++) {
        const numbered = version === 1 ? name : `${name}-${version}`;
        const known = frames.get(numbered);
        if (known === undefined) frames.set(numbered, text);
        if (known === undefined || known === text) return `${numbered} at ${place}`;
      }
    },
    compare() {
      for (const [name, frame] of frames) kept.compare(`frames/${name}.txt`, frame.split('\n'));
    },
  };
}
