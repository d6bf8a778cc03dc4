import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { withoutReferences } from '../../src/lib/openapi/references.ts';
import { type ClientDocument, clientOperations, clientTypes } from './client-types.ts';

/** Builds the TypeScript client as an npm package, dist/askback-client-VERSION.tgz, from ops/openapi.json. */
const source = 'ops/client';
const output = process.argv[2] ?? 'dist';
const work = join(output, 'client');
const modules = ['client.ts', 'webhook.ts'];
/** The exports of the package. */
const entry = ['client', 'types', 'webhook']
  .map((name) => `export * from './${name}.ts';\n`)
  .join('');

rmSync(work, { recursive: true, force: true });
mkdirSync(join(work, 'source'), { recursive: true });
for (const name of modules) copyFileSync(join(source, name), join(work, 'source', name));
const document: ClientDocument = withoutReferences(
  JSON.parse(readFileSync('ops/openapi.json', 'utf8')),
);
writeFileSync(join(work, 'source/types.ts'), clientTypes(document));
writeFileSync(join(work, 'source/operations.ts'), clientOperations(document));
writeFileSync(join(work, 'source/askback.ts'), entry);
compile();

writeFileSync(join(work, 'package/package.json'), `${JSON.stringify(packageFile(), null, 2)}\n`);
copyFileSync(join(source, 'README.md'), join(work, 'package/README.md'));
copyFileSync('LICENSE', join(work, 'package/LICENSE'));
execFileSync('npm', ['pack', '--silent', '--pack-destination', resolve(output)], {
  cwd: join(work, 'package'),
  stdio: ['ignore', 'ignore', 'inherit'],
});
console.log(`${output}/askback-client-${manifest.version}.tgz`);

function compile() {
  const options = {
    target: 'es2023',
    module: 'nodenext',
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: [], // none of this repository's: the client must compile against the standard library alone
    strict: true,
    exactOptionalPropertyTypes: true,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    rootDir: 'source',
    outDir: 'package',
  };
  writeFileSync(join(work, 'source/package.json'), '{"type":"module"}');
  writeFileSync(
    join(work, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['source'] }),
  );
  execFileSync(resolve('node_modules/.bin/tsc'), ['-p', work], { stdio: 'inherit' });
}

function packageFile() {
  return {
    name: 'askback-client',
    version: manifest.version,
    description: 'Typed client for askback, with webhook verification',
    license: manifest.license,
    type: 'module',
    engines: { node: '>=20' },
    sideEffects: false,
    types: './askback.d.ts',
    exports: { '.': { types: './askback.d.ts', default: './askback.js' } },
    files: ['*.js', '*.d.ts'],
  };
}
