/** The entry of a version in a changelog as of keepachangelog.com, or the unreleased one if there is none yet. */
export function changesOf(changelog: string, version: string): string {
  const entries = changelog.split(/^(?=## )/m).slice(1);
  const entry =
    entries.find((text) => text.startsWith(`## [${version}]`)) ??
    entries.find((text) => text.startsWith('## [Unreleased]'));
  if (!entry) throw new Error(`ops/changelog.md has no entry for ${version}`);
  return `${entry.trim()}\n`;
}
