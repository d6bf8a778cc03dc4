import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { constants, zstdCompressSync } from 'node:zlib';
import { archiveAsset, archiveRecordAsset } from '../../src/lib/embedded-postgres/archive.ts';
import { operatorFiles } from '../../src/operations/archive.ts';
import { bundle, threadFile } from './bundle.ts';
import { noticesFile } from './notices.ts';
import { packPostgres } from './postgres.ts';
import { v8Options } from './v8-options.ts';
import { packWebAssets } from './web-assets.ts';

const maxBytes = 150_000_000;
const work = 'dist/parts';
const output = 'dist/askback';

/** Files that `readAsset` reads, under their names in the repository. */
const assetFolders = [
  'sql/migrations/*.sql',
  noticesFile,
  ...operatorFiles().map((name) => `ops/${name}`),
];

/**
 * Permissions of the start. The folder of the embedded Postgres is only known at run time, and files and child processes
 * can be allowed by name or all, so all are allowed until the service drops everything but the network. FFI is only used
 * to open a socket of the service manager and goes first. A new thread would get all of them again, so only lib/worker can
 * start one, without any. Native addons, WASI and the inspector are never allowed.
 */
const execArgv = [
  ...v8Options,
  '--permission',
  '--allow-net',
  '--allow-fs-read=*',
  '--allow-fs-write=*',
  '--allow-child-process',
  '--allow-ffi',
  '--allow-worker',
  // Node warns about these flags at every start.
  '--disable-warning=PERM0002',
  '--disable-warning=PERM0003',
  '--disable-warning=PERM0006',
  '--disable-warning=ExperimentalWarning',
];

/** Without a fixed seed the compiled code is ordered by random hashes, and no two builds are equal. */
const fixedSeed = '--random-seed=1';

mkdirSync(work, { recursive: true });
const postgres = packPostgres();
console.log('bundling askback...');
await bundle(process.argv[2] ?? 'src/main.ts', `${work}/askback.mjs`);
writeFileSync(`${work}/sea.json`, JSON.stringify(configuration(strippedNode())));
console.log('building the executable...');
rmSync(output, { force: true });
execFileSync(process.execPath, [fixedSeed, ...v8Options, '--build-sea', `${work}/sea.json`], {
  stdio: 'inherit',
});
// macOS only starts signed programs, and the added files make the signature of Node invalid.
if (process.platform === 'darwin') execFileSync('codesign', ['--force', '--sign', '-', output]);
checkSize();

function configuration(executable: string) {
  const files = assetFolders.flatMap((pattern) => globSync(pattern)).map((file) => [file, file]);
  return {
    main: `${work}/askback.mjs`,
    mainFormat: 'module',
    executable,
    output,
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    execArgv,
    execArgvExtension: 'none', // NODE_OPTIONS must not turn off what execArgv turns on
    assets: {
      ...Object.fromEntries(files),
      ...packWebAssets(work),
      [`${threadFile}.zst`]: packedThread(),
      [archiveAsset]: postgres.archive,
      [archiveRecordAsset]: postgres.record,
    },
  };
}

/** Node maps its own code, and V8 caches the program's, so only this part gets smaller: 1.3 instead of 5.2 MB. */
function packedThread(): string {
  const packed = `${work}/${threadFile}.zst`;
  const params = { [constants.ZSTD_c_compressionLevel]: 12 };
  writeFileSync(packed, zstdCompressSync(readFileSync(`${work}/${threadFile}`), { params }));
  return packed;
}

/** Strips Node before the program is added, which a later strip would remove. */
function strippedNode(): string {
  const node = `${work}/node`;
  copyFileSync(process.execPath, node);
  const options = process.platform === 'darwin' ? ['-x'] : [];
  try {
    execFileSync('strip', [...options, node]);
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error;
    throw new Error('building the binary needs `strip`: install the package binutils');
  }
  return node;
}

function checkSize() {
  const { size } = statSync(output);
  console.log(`${output}: ${Math.round(size / 1_000_000)} MB`);
  if (size > maxBytes) throw new Error(`${output} is larger than ${maxBytes} bytes`);
}
