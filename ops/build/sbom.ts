import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { bundle } from './bundle.ts';
import { embeddedPostgres, manifestOf, nodePackage, postgresLibraries } from './notices.ts';
import { postgresVersionOf } from './postgres.ts';

/**
 * Lists the contents of the executable as CycloneDX 1.6 (https://cyclonedx.org). The output is reproducible: it has no
 * timestamp, and its serial number is derived from its content.
 */
export const sbomFile = `dist/askback-${manifest.version}.cdx.json`;

type Component = {
  type: 'library' | 'platform' | 'application';
  name: string;
  version?: string;
  purl?: string;
  licenses?: ({ license: { id: string } } | { expression: string })[];
};

/** `packages` are the folders of the packages in the bundle. */
export function billOfMaterials(packages: readonly string[]) {
  const components = [
    ...platformComponents(),
    ...packages.map((folder) => packageComponent(manifestOf(folder))),
  ];
  const own = { type: 'application', name: manifest.name, version: manifest.version } as const;
  const content = {
    metadata: {
      component: { ...own, 'bom-ref': manifest.name, ...licensesOf(manifest.license) },
    },
    components: components.map((component) => ({
      ...component,
      'bom-ref': component.purl ?? component.name,
    })),
    dependencies: [
      {
        ref: manifest.name,
        dependsOn: components.map(({ purl, name }) => purl ?? name),
      },
    ],
  };
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(content))}`;
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber, version: 1, ...content };
}

function platformComponents(): Component[] {
  const node = manifestOf(nodePackage());
  // The package's version is the server's with a build number of its own: 18.4.0-beta.17 is 18.4.
  const folder = process.env['POSTGRES'];
  const [postgres] = folder
    ? [postgresVersionOf(folder)]
    : manifestOf(embeddedPostgres()[0]!).version.split('.0-');
  return [
    {
      type: 'platform',
      name: 'node',
      version: node.version,
      purl: `pkg:generic/node@${node.version}`,
      ...licensesOf('MIT'),
    },
    {
      type: 'platform',
      name: 'postgresql',
      version: postgres!,
      purl: `pkg:generic/postgresql@${postgres}`,
      ...licensesOf('PostgreSQL'),
    },
    // Linked into the server by its builder, with unknown versions.
    ...[...postgresLibraries, 'ICU', 'zlib'].map(
      (name): Component => ({ type: 'library', name: `${name} (with PostgreSQL)` }),
    ),
  ];
}

function packageComponent({ name, version, license }: ReturnType<typeof manifestOf>): Component {
  const path = name.split('/').map(encodeURIComponent).join('/');
  const purl = `pkg:npm/${path}@${encodeURIComponent(version)}`;
  return { type: 'library', name, version, purl, ...licensesOf(license) };
}

function licensesOf(license: string): Pick<Component, 'licenses'> {
  const isExpression = / (OR|AND|WITH) |^\(/.test(license);
  return {
    licenses: [isExpression ? { expression: license } : { license: { id: license } }],
  };
}

/** UUID version 8, whose bits are free to choose. */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export async function writeSbom() {
  const folder = mkdtempSync(join(tmpdir(), 'askback-sbom-'));
  try {
    const { packages } = await bundle('src/main.ts', join(folder, 'askback.mjs'));
    mkdirSync('dist', { recursive: true });
    writeFileSync(sbomFile, `${JSON.stringify(billOfMaterials(packages), null, 2)}\n`);
    const { components } = JSON.parse(readFileSync(sbomFile, 'utf8')) as { components: unknown[] };
    console.log(`${sbomFile}: ${components.length} components`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) await writeSbom();
