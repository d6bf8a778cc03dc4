import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { inAscii } from './ascii.ts';

/**
 * Bundles the program as one module, not minified: that starts no faster, and an uncaught error prints its source line.
 * `require` remains for CommonJS in packages, and only finds Node's built-in modules.
 */
export async function bundle(entry: string, outfile: string, plugins: Plugin[] = []) {
  const program = await bundleModule(entry, outfile, { format: 'esm', plugins });
  const thread = join(dirname(outfile), threadFile);
  const inThread = await bundleModule('src/redaction-worker-thread.ts', thread, {
    format: 'cjs',
    plugins,
  });
  return { packages: [...new Set([...program, ...inThread])].sort() };
}

/** The program of the comment thread, a separate bundle. */
export const threadFile = 'redaction-worker-thread.cjs';

type Form = { format: 'esm' | 'cjs'; plugins: Plugin[] };

async function bundleModule(entry: string, outfile: string, { format, plugins }: Form) {
  const { metafile, outputFiles } = await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    target: 'node26',
    format,
    external: ['pg-native'],
    plugins,
    alias: {
      cosmiconfig: './ops/build/no-configuration-files.ts',
      ...withoutGrpc,
      ...withoutCharsets,
    },
    banner: { js: format === 'esm' ? builtInsOnly : '' },
    legalComments: 'none', // `askback licenses` prints them whole
    logLevel: 'warning',
  });
  mkdirSync(dirname(outfile), { recursive: true });
  writeFileSync(outfile, inAscii(outputFiles[0]!.text));
  return packagesIn(metafile);
}

/** Folders of the packages in a bundle. */
function packagesIn({ inputs }: Metafile): string[] {
  const folder = /^(?:.*node_modules|ops\/vendor)\/(?:@[^/]+\/)?[^/]+(?=\/)/;
  return [...new Set(Object.keys(inputs).flatMap((path) => folder.exec(path) ?? []))].sort();
}

const withoutGrpc = Object.fromEntries(
  [
    'configuration',
    'instrumentation',
    'otlp-grpc-exporter-base',
    'exporter-trace-otlp-grpc',
    'exporter-metrics-otlp-grpc',
    'exporter-logs-otlp-grpc',
  ].map((name) => [`@opentelemetry/${name}`, './ops/build/no-telemetry-beyond-http.ts']),
);

const withoutCharsets = Object.fromEntries(
  ['iconv-lite', 'encoding-japanese'].map((name) => [name, './ops/build/no-charsets.ts']),
);

const builtInsOnly = `const require = (name) => {
  const found = process.getBuiltinModule(name);
  if (found) return found;
  throw Object.assign(new Error('Cannot find module ' + name), { code: 'MODULE_NOT_FOUND' });
};`;
