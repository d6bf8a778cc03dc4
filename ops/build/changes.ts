/** The changelog entry of a version, or the unreleased one if the version has none yet. */
export function changesOf(changelog: string, version: string): string {
  const entries = changelog.split(/^(?=## )/m).slice(1);
  const entry =
    entries.find((text) => text.startsWith(`## [${version}]`)) ??
    entries.find((text) => text.startsWith('## [Unreleased]'));
  if (!entry) throw new Error(`ops/changelog.md has no entry for ${version}`);
  return `${entry.trim()}\n`;
}
