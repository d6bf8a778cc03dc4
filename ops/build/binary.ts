import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { archiveAsset, archiveRecordAsset } from '../../src/lib/embedded-postgres/archive.ts';
import { operatorFiles } from '../../src/operations/archive.ts';
import { bundle, threadFile } from './bundle.ts';
import { noticesFile } from './notices.ts';
import { packPostgres } from './postgres.ts';
import { v8Options } from './v8-options.ts';
import { packWebAssets } from './web-assets.ts';

const largestBytes = 150_000_000;
const work = 'dist/parts';
const output = 'dist/askback';

/** What the program reads by `readAsset`, under the names it has in the checkout. */
const assetFolders = [
  'sql/migrations/*.sql',
  noticesFile,
  ...operatorFiles().map((name) => `ops/${name}`),
];

/**
 * What starting needs. The embedded Postgres is unpacked to and started from a folder that is known only
 * at run time, and files and children can be allowed only by name or all; so all, until serving begins:
 * then lib/process/permission.ts takes every scope away but the network. FFI goes before anything else is
 * started: lib/process/service-manager.ts opens one socket with it. A thread would begin with all of these
 * again: lib/worker starts the one there is, without any of them, and nothing else can start any. Never
 * allowed: native addons, WASI and the inspector.
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
  // the cautions about these very flags, printed at every start
  '--disable-warning=PERM0002',
  '--disable-warning=PERM0003',
  '--disable-warning=PERM0006',
  '--disable-warning=ExperimentalWarning',
];

/** The compiled code would else lie in the order of random hashes, and no two builds be alike. */
const sameEveryTime = '--random-seed=1';

mkdirSync(work, { recursive: true });
const postgres = packPostgres();
console.log('bundling askback...');
await bundle(process.argv[2] ?? 'src/main.ts', `${work}/askback.mjs`);
writeFileSync(`${work}/sea.json`, JSON.stringify(configuration(strippedNode())));
console.log('putting it into one executable...');
rmSync(output, { force: true });
execFileSync(process.execPath, [sameEveryTime, ...v8Options, '--build-sea', `${work}/sea.json`], {
  stdio: 'inherit',
});
refuseLarge();

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
    execArgvExtension: 'none', // NODE_OPTIONS must not switch off what execArgv switches on
    assets: {
      ...Object.fromEntries(files),
      ...packWebAssets(work),
      [threadFile]: `${work}/${threadFile}`,
      [archiveAsset]: postgres.archive,
      [archiveRecordAsset]: postgres.record,
    },
  };
}

/** Stripped before it becomes the executable: what is put into it does not survive a strip. */
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

function refuseLarge() {
  const { size } = statSync(output);
  console.log(`${output}: ${Math.round(size / 1_000_000)} MB`);
  if (size > largestBytes) throw new Error(`${output} is larger than ${largestBytes} bytes`);
}
