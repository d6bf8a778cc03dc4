import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';

/**
 * Clients from several generators compile and call the API. Two linters find no problem in the document. `bash
 * ops/ci/with-clients make test-clients` installs the tools.
 */
const tools = process.env['CLIENT_TOOLS'];
assert.ok(tools, 'CLIENT_TOOLS is not set: bash ops/ci/with-clients make test-clients');
const bin = join(tools, 'node_modules/.bin');
const home = mkdtempSync(join(tmpdir(), 'askback-clients-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

const { db, url } = await testDatabase();
const service = startService({
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  PORT: '0',
  LOG_LEVEL: 'error',
});
const address = addressIn(await service.ready());
const document = join(home, 'openapi.json');
writeFileSync(document, await (await fetch(`${address}/openapi.json`)).text());

test('Redocly finds no problem in the API document', async () => {
  await run(join(bin, 'redocly'), ['lint', '--max-problems=20', document], tools);
});

test('Spectral finds no problem in the API document', async () => {
  const ruleset = join(tools, 'spectral.yaml');
  await run(join(bin, 'spectral'), ['lint', '-r', ruleset, '--fail-severity=warn', document], home);
});

test('an openapi-typescript client compiles and calls the API', async () => {
  const folder = prepare('typescript');
  symlinkSync(join(tools, 'node_modules'), join(folder, 'node_modules'));
  await run(join(bin, 'openapi-typescript'), [document, '-o', join(folder, 'api.d.ts')], folder);
  const options = ['--strict', '--skipLibCheck', '--noEmit', '--allowImportingTsExtensions'];
  const types = ['--types', 'node', '--typeRoots', resolve('node_modules/@types')];
  const target = ['--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,dom'];
  await run(join(bin, 'tsc'), [...options, ...types, ...target, 'call.ts'], folder);
  await calls(process.execPath, ['call.ts'], folder);
});

test('an openapi-python-client client has every operation', async () => {
  const folder = prepare('python');
  const python = join(tools, 'python/bin');
  const { stdout, stderr } = await run(
    join(python, 'openapi-python-client'),
    ['generate', '--path', document, '--output-path', join(folder, 'client'), '--meta', 'none'],
    folder,
  );
  const leftOut = `${stdout}${stderr}`.match(/parsing [A-Z]+ \S+/g) ?? [];
  // The generator does not know `message/rfc822`. Its users send such a message as bytes.
  assert.deepEqual(leftOut, ['parsing POST /api/bounces']);
  assert.match(`${stdout}${stderr}`, /Unsupported content type message\/rfc822/);
  await calls(join(python, 'python'), ['call.py'], folder);
});

test('an oapi-codegen client compiles and calls the API', async () => {
  const folder = prepare('go');
  const options = ['-generate', 'types,client', '-package', 'api', '-o', join(folder, 'api.go')];
  await run(join(tools, 'bin/oapi-codegen'), [...options, document], folder);
  cpSync(join(folder, 'api.go'), join(folder, 'api/api.go'));
  rmSync(join(folder, 'api.go'));
  await run('go', ['vet', './...'], folder);
  await calls('go', ['run', '.'], folder);
});

function prepare(language: string): string {
  const folder = join(home, language);
  cpSync(join('test/clients', language), folder, { recursive: true });
  if (language === 'typescript') writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  return folder;
}

/** Runs a client program against the service for a new organization. */
async function calls(program: string, words: string[], folder: string) {
  const { id, write } = await makeClient(db);
  const surveyId = await makeSurvey(db, id);
  const [row] = await db<{ share_id: string }[]>`
    select share_id
    from surveys
    where id = ${surveyId}
  `;
  const { stdout } = await run(program, words, folder, {
    ASKBACK_URL: address,
    ASKBACK_KEY: write['X-API-Key'],
    SURVEY_ID: surveyId,
    SHARE_ID: row!.share_id,
  });
  assert.deepEqual(JSON.parse(stdout), {
    contact: 'ada@example.com',
    results: ['sent'],
    score: 9,
    comments: ['Setup took five minutes.'],
    promoters: 1,
    promoters_on_plan: 0,
  });
}

async function run(
  program: string,
  words: string[],
  cwd: string,
  environment: Record<string, string> = {},
) {
  const env = { ...process.env, ...environment, NO_COLOR: '1' };
  return await promisify(execFile)(program, words, { cwd, env }).catch((error) => {
    throw new Error(`${program} failed:\n${error.stdout}${error.stderr}`);
  });
}

test('the service serves ops/openapi.json', () => {
  const kept = JSON.parse(readFileSync('ops/openapi.json', 'utf8'));
  assert.deepEqual(JSON.parse(readFileSync(document, 'utf8')), kept);
});
