import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { createSecrets } from '../../../src/lib/crypto/secrets.ts';
import type { Db } from '../../../src/lib/db/db.ts';
import { erasePerson } from '../../../src/people/erase.ts';
import { openErasureFile } from '../../../src/people/receipts-file.ts';
import { secretKey } from '../processes/program.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey, writeKeyOf } from './rows.ts';

/** A folder for files of receipts, removed when the tests end. */
export function erasureFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'askback-erasures-'));
  after(() => rmSync(folder, { recursive: true }));
  return folder;
}

let files = 0;

/** Tools to erase people, with receipts in a separate file. */
export function eraseTools(db: Db, folder: string) {
  const erasuresFile = join(folder, `erasures-${++files}.jsonl`);
  const erasureFile = openErasureFile({ erasuresFile }, folder, (sentence) => {
    throw new Error(sentence);
  });
  const secrets = createSecrets([Buffer.from(secretKey, 'base64')]);
  return { db, erasureFile, secrets, erasuresFile, settings: { sendDeadlineSeconds: 60 } };
}

/** A person who has answered, and tools to erase them, with receipts in a separate file. */
export async function erasableScene(db: Db, folder: string) {
  const org = await makeOrganization(db);
  const of = { org_id: org, survey_id: await makeSurvey(db, org) };
  const person = { email: 'ada@people.test', name: 'Ada' };
  const add = async () => {
    const contact_id = await makeContact(db, of, person);
    await makeResponse(db, of, { contact_id, comment: 'slow as treacle' });
  };
  await add();
  const { erasuresFile, ...tools } = eraseTools(db, folder);
  const erase = () => erasePerson(tools, writeKeyOf(org), { email: person.email, scores: 'kept' });
  return { org, of, add, tools, erase, erasuresFile };
}
