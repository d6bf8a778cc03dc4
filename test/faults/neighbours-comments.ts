import { randomBytes } from 'node:crypto';
import { connect, type Db } from '../../src/lib/db/db.ts';
import {
  makeClient,
  makeContact,
  makeOrganization,
  makeSurvey,
  makeWebhook,
} from '../support/make/rows.ts';
import { environment } from './campaign.ts';
import { type Neighbours, timed } from './neighbours.ts';
import { createService } from './service.ts';

const crowdCallers = 8;
const calls = 100;
/** The longest comment, of words that end no sentence: the dearest for the recognizer of names. */
const worstComment = 'St. St '.repeat(714);

/**
 * Strangers post the worst comments to the shareable link of one organization, whose comments are analyzed
 * and whose webhook takes detractors. A contact of the other answers, and its program reads the score.
 */
export const commentNeighbours: Neighbours = {
  shared: 'reading of comments',
  async measure(databaseUrl) {
    const service = await createService({
      ...environment(databaseUrl),
      ASKBACK_RATE_LIMIT: '1000',
    });
    const db = connect(databaseUrl, { connections: 2 });
    try {
      await service.start();
      const link = await makeCrowdedLink(db, service.address);
      const other = await makeClient(db);
      const survey = await makeSurvey(db, other.id);
      const wrong: string[] = [];
      const answerAndRead = async () => {
        const token = randomBytes(24).toString('base64url');
        await makeContact(db, { org_id: other.id, survey_id: survey }, { token });
        return await timed(async () => {
          const answered = await post(`${service.address}/s/${token}`, { score: 9 });
          if (answered.status !== 201) wrong.push(`an answer was answered ${answered.status}`);
          const read = await fetch(`${service.address}/api/v1/nps`, { headers: other.read });
          if (!read.ok) wrong.push(`a score was answered ${read.status}`);
        });
      };
      await answerAndRead(); // the first connection and plans are no part of the comparison
      const idleMs: number[] = [];
      for (let n = 0; n < calls; n += 1) idleMs.push(await answerAndRead());

      const gone = new AbortController();
      const crowd = Array.from({ length: crowdCallers }, () => postOn(link, gone.signal));
      const crowdedMs: number[] = [];
      for (let n = 0; n < calls; n += 1) crowdedMs.push(await answerAndRead());
      gone.abort();
      await Promise.all(crowd);
      return { idleMs, crowdedMs, wrong };
    } finally {
      await service.kill();
      await db.end({ timeout: 1 });
    }
  },
};

async function makeCrowdedLink(db: Db, address: string): Promise<string> {
  const orgId = await makeOrganization(db, { ai_enabled: true });
  const shareId = randomBytes(12).toString('base64url');
  await makeSurvey(db, orgId, { share_id: shareId });
  await makeWebhook(db, orgId, { events: ['detractor.detected'] });
  return `${address}/f/${shareId}`;
}

/** Until it is stopped, or the limit of an address is reached. */
async function postOn(link: string, signal: AbortSignal) {
  const body = { score: 0, comment: worstComment };
  for (let status = 201; status === 201; ) {
    status = await post(link, body, signal).then(
      (answer) => answer.status,
      () => 0,
    );
  }
}

const post = (url: string, body: object, signal?: AbortSignal) =>
  fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
