import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { commandWriter } from '../../src/audit/acts.ts';
import { importContacts, readContacts } from '../../src/contacts/import.ts';
import { checkContact, joinLines } from '../../src/contacts/rules.ts';
import { importExport, openExport } from '../../src/importers/import.ts';
import { otherService } from '../../src/importers/rows.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);
const client = await makeClient(db);

type Given = { email: string; name: string | null; plan: string };

const piece = fc.constantFrom(
  'Ann',
  ' ',
  'é',
  '👩',
  '\u200d',
  '"',
  ',',
  '\n',
  '\r',
  '\t',
  '\u0000',
  '\u001f',
  '\u007f',
  '\u0085',
  '\u2028',
  '\u202e',
  '\u2066',
  '\ufeff',
  '\uffff',
  '\ud800',
);
const words = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
const atTheEdge = fc
  .tuple(fc.constantFrom('a', '👩', 'é'), fc.integer({ min: 199, max: 201 }))
  .map(([letter, times]) => letter.repeat(times));
const around16KiB = fc
  .tuple(fc.constantFrom('a', 'é', '"'), fc.integer({ min: 16_360, max: 16_390 }))
  .map(([letter, bytes]) => letter.repeat(Math.floor(bytes / (letter === 'a' ? 1 : 2))));

const given: fc.Arbitrary<Given> = fc.record({
  email: fc.constantFrom('ann@people.test', ' Ann@Bücher.example ', 'ann@people', 'zoë@x.test', ''),
  name: fc.oneof(fc.constant(null), words, atTheEdge),
  plan: fc.oneof({ weight: 3, arbitrary: words }, { weight: 1, arbitrary: around16KiB }),
});

const takes = (contact: object) => !('complaint' in checkContact(contact));

test('every source checks contacts alike', async () => {
  await fc.assert(
    fc.asyncProperty(given, async ({ email, name, plan }) => {
      const contact = { email, name, properties: { plan } };
      const expected = takes(contact);
      const surveyId = await makeSurvey(db, client.id);
      assert.equal(await posts(surveyId, contact), expected, 'POST /contacts');
      assert.equal(await sends(surveyId, contact), expected, 'POST /send');
      // An empty line is ignored.
      if (email === '') return;
      // UTF-8 cannot contain a lone surrogate.
      if (![name ?? '', plan].every((text) => text.isWellFormed())) return;
      // In a file, a line break within a name becomes a space.
      const line = { email, name: name && joinLines(name), properties: { plan } };
      assert.equal(await imports({ email, name, plan }), takes(line), 'contact import');
      assert.equal(
        await importsResponse(surveyId, { email, name, plan }),
        takes({ email, name: line.name }),
        'responses import',
      );
    }),
    { numRuns: 150 },
  );
});

test('every source refuses properties that grow too large by merging', async () => {
  const surveyId = await makeSurvey(db, client.id);
  const where = { ...commandWriter(client.id), surveyId };
  const filled = { email: 'ann@people.test', properties: { one: 'a'.repeat(12_000) } };
  const more = { email: 'Ann@people.test', properties: { two: 'b'.repeat(8000) } };
  assert.ok(await posts(surveyId, filled));

  assert.equal(await posts(surveyId, more), false, 'POST /contacts');
  assert.equal(await sends(surveyId, more), false, 'dry run');
  const sent = await post(`/api/v1/surveys/${surveyId}/send`, { contacts: [more] });
  assert.deepEqual([sent.ok, sent.data?.invalid], [true, 1]);
  const file = `email,two\nann@people.test,${more.properties.two}\n`;
  const imported = importContacts({ db, onProgress: () => {} }, where, file);
  await assert.rejects(
    imported,
    /the properties of ann@people.test together with the existing ones/,
  );

  const [contact] = await db`select properties from contacts where survey_id = ${surveyId}`;
  assert.deepEqual(contact!['properties'], filled.properties);
  const fits = { email: 'ann@people.test', properties: { two: 'b'.repeat(4000) } };
  assert.ok(await sends(surveyId, fits));
});

test('import refuses the line that makes merged properties too large', async () => {
  const line = (one: string, two: string) => `ann@people.test,${one},${two}`;
  const file = ['email,one,two', line('a'.repeat(10_000), ''), line('', 'b'.repeat(10_000))];
  await assert.rejects(
    readContacts(file.join('\n')),
    /line 3: the properties of all lines of ann@people.test must be at most 16384 bytes as JSON/,
  );
});

async function post(path: string, body: object) {
  const answer = await app.request(path, {
    method: 'POST',
    headers: client.write,
    body: JSON.stringify(body),
  });
  assert.ok(answer.status < 500, `${answer.status}`);
  return { ok: answer.ok, ...((await answer.json()) as { data?: { invalid?: number } }) };
}

const posts = async (survey_id: string, contact: object) =>
  (await post('/api/v1/contacts', { survey_id, ...contact })).ok;

async function sends(surveyId: string, contact: object) {
  const path = `/api/v1/surveys/${surveyId}/send?dry_run=true`;
  const { ok, data } = await post(path, { contacts: [contact] });
  return ok && data?.invalid === 0;
}

const quoted = (...cells: string[]) =>
  cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',');

function imports({ email, name, plan }: Given) {
  const text = `email,name,plan\n${quoted(email, name ?? '', plan)}\n`;
  return succeeds(() => readContacts(text));
}

async function importsResponse(surveyId: string, { email, name }: Given) {
  const text = `score,date,email,name\n${quoted('9', '2024-01-01', email, name ?? '')}\n`;
  const writer = { ...commandWriter(client.id), surveyId, author: 'CSV' };
  return await succeeds(async () => {
    const opened = await openExport(otherService, { name: 'own', pieces: () => [text] }, undefined);
    const options = { export: opened, type: 'nps', zone: 'UTC', dryRun: true } as const;
    await importExport({ db, onProgress: () => {} }, writer, options);
  });
}

/** Returns refusals, and rethrows other errors. */
async function succeeds(work: () => Promise<unknown>) {
  try {
    await work();
    return true;
  } catch (error) {
    assert.equal((error as Error).name, 'Refusal', String(error));
    return false;
  }
}

test('Unicode and ASCII forms of a domain are the same person', async () => {
  const surveyId = await makeSurvey(db, client.id);
  const emails = ['Ada@Bücher.example', 'ada@BÜCHER.example', 'ada@xn--bcher-kva.example'];
  for (const email of emails) assert.ok(await posts(surveyId, { email }));
  const where = { ...commandWriter(client.id), surveyId };
  await importContacts({ db, onProgress: () => {} }, where, ['email', ...emails].join('\n'));
  const rows = await db`select email from contacts where survey_id = ${surveyId}`;
  assert.equal(rows.length, 1);
});
