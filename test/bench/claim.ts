import { randomUUID } from 'node:crypto';
import { claim } from '../../src/sends/claim.ts';
import { readContact } from '../../src/sends/rules.ts';
import { benchDatabase } from './database.ts';
import { percentiles } from './load.ts';
import { contactsPerRequest } from './send-scene.ts';
import { addSurveys } from './surveys.ts';

/** The first claims warm up plans and connections. */
const [warmUp, claims] = [3, 10];

/** Measures a request until its contacts and mails are stored and before any mail is sent. */
export async function medianClaimMs(server: string): Promise<number> {
  const database = await benchDatabase(server);
  try {
    const surveys = await addSurveys(database.db, { surveys: warmUp + claims, webhooks: false });
    const submitted = Array.from({ length: contactsPerRequest }, (_, n) =>
      readContact({ email: `person${n}@people.example`, name: `Person ${n}` }),
    );
    const took: number[] = [];
    for (const { orgId, id: surveyId } of surveys) {
      const begun = performance.now();
      const request = { requestId: randomUUID(), submitted, traceparent: null };
      const { claimed } = await claim(database.db, { orgId, surveyId }, request);
      took.push(performance.now() - begun);
      if (claimed.size !== contactsPerRequest) throw new Error(`claimed ${claimed.size} mails`);
    }
    return percentiles(took.slice(warmUp)).p50;
  } finally {
    await database.drop();
  }
}
