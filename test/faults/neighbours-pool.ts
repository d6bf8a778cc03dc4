import { connect } from '../../src/lib/db/db.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { environment } from './campaign.ts';
import { type Neighbours, timed } from './neighbours.ts';
import { createService } from './service.ts';

const comments = 100_000;
const searches = 100;
const calls = 100;

/**
 * One organization searches 100,000 comments for one letter, 100 times at once: as much as its rate limit allows.
 * The other lists its surveys.
 */
export const poolNeighbours: Neighbours = {
  shared: 'database pool',
  async measure(databaseUrl) {
    const service = await createService({
      ...environment(databaseUrl),
      ASKBACK_RATE_LIMIT: '1000',
    });
    const db = connect(databaseUrl, { connections: 2 });
    try {
      await service.start();
      const [many, other] = [await makeClient(db), await makeClient(db)];
      const survey = await makeSurvey(db, many.id);
      await makeSurvey(db, other.id);
      await db`
        insert into responses (org_id, survey_id, score, category, comment)
        select ${many.id}, ${survey}, 9, 'promoter', repeat(md5(n::text) || ' ', 15)
        from generate_series(1, ${comments}) n`;
      const wrong: string[] = [];
      const list = async () => {
        const answer = await fetch(`${service.address}/api/v1/surveys`, { headers: other.read });
        const { meta } = (await answer.json()) as { meta?: { total: number } };
        if (meta?.total !== 1) wrong.push(`a list was answered ${answer.status}`);
      };
      await list(); // the first connection and plans are no part of the comparison
      const idleMs: number[] = [];
      for (let n = 0; n < calls; n += 1) idleMs.push(await timed(list));

      const gone = new AbortController();
      const crowd = Array.from({ length: searches }, (_, n) =>
        fetch(`${service.address}/api/v1/responses?search=${'abcdef'[n % 6]}`, {
          headers: many.read,
          signal: gone.signal,
        }).catch(() => {}),
      );
      const crowdedMs: number[] = [];
      for (let n = 0; n < calls; n += 1) crowdedMs.push(await timed(list));
      gone.abort();
      await Promise.all(crowd);
      return { idleMs, crowdedMs, wrong };
    } finally {
      await service.kill();
      await db.end({ timeout: 1 });
    }
  },
};
