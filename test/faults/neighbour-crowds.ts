import { setTimeout as sleep } from 'node:timers/promises';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import { makeWebhook } from '../support/make/rows.ts';
import type { Crowd, CrowdScene } from './neighbour-crowd.ts';

const callers = 8;
/** The longest comment without a sentence end, the most expensive input of name recognition. */
const worstComment = 'St. St '.repeat(714);
const ordinaryComment =
  'The delivery came late and the phone rang unanswered, but Maria was kind. ';
const beginMs = 1000;

/** Every shared resource has an entry. */
export const crowds: readonly Crowd[] = [
  {
    shared: 'mail connections: 5,000 mails, half a second each',
    exchangeMs: 500,
    async start({ many }) {
      const sends = Array.from({ length: 5 }, (_, n) =>
        many.send(Array.from({ length: 1000 }, (_, at) => `p${n}-${at}@a.test`)),
      );
      await sleep(beginMs);
      return async (wrong) => {
        for (const { email, reason_code } of (await Promise.all(sends)).flat()) {
          if (reason_code === 'unknown_outcome') wrong.mail.push(`unknown: ${email}`);
        }
      };
    },
  },
  {
    shared: 'mail connections and database: a campaign of 100,000',
    async prepare({ db, many }) {
      await db`update organizations set monthly_send_limit = 1000000 where id = ${many.id}`;
      await db`
        insert into contacts (org_id, survey_id, email, token)
        select ${many.id}, ${many.surveyId}, 'p' || n || '@a.test', replace(gen_random_uuid()::text, '-', '')
        from generate_series(1, 100000) as n`;
      await db`analyze contacts`;
    },
    async start({ many, address }) {
      const path = `/api/v1/surveys/${many.surveyId}/campaigns`;
      const started = await fetch(`${address}${path}`, { method: 'POST', headers: many.write });
      const { data } = (await started.json()) as { data: { id: string } };
      return async (wrong) => {
        const found = await fetch(`${address}/api/v1/campaigns/${data.id}`, { headers: many.read });
        const { data: campaign } = (await found.json()) as { data: Record<string, number> };
        const { total = 0, sent = 0, duplicates = 0, failed = 0, remaining = 0 } = campaign;
        if (sent + duplicates + failed + remaining !== total || sent === 0 || failed > 0) {
          wrong.mail.push(`the campaign: ${JSON.stringify(campaign)}`);
        }
      };
    },
  },
  {
    shared: 'reading of comments: 8 callers post the worst ones',
    async prepare({ db, many }) {
      await db`update organizations set ai_enabled = true where id = ${many.id}`;
      await makeWebhook(db, many.id, { events: ['detractor.detected'] });
    },
    start: ({ many }, gone) =>
      call(gone, () =>
        postTo(many.shareUrl, { gone, body: JSON.stringify({ score: 0, comment: worstComment }) }),
      ),
  },
  {
    shared: 'analyst and job runners: 5,000 comments to read',
    async prepare({ db, many }) {
      await db`update organizations set ai_enabled = true where id = ${many.id}`;
    },
    start: ({ many, address }, gone) =>
      call(gone, async () => {
        const { status } = await many.answer({ score: 2, comment: ordinaryComment.repeat(20) });
        if (status !== 201) throw new Error(`${address}: an answer was answered ${status}`);
      }),
  },
  {
    shared: 'database pool: 100 searches for one letter in 100,000 comments',
    async prepare({ db, many }) {
      await db`
        insert into responses (org_id, survey_id, score, category, comment)
        select ${many.id}, ${many.surveyId}, 9, 'promoter', repeat(md5(n::text) || ' ', 15)
        from generate_series(1, 100000) n`;
    },
    start({ many, address }, gone) {
      let searches = 0;
      return call(
        gone,
        async () => {
          searches += 1;
          await getFrom(`${address}/api/v1/responses?search=${'abcdef'[searches % 6]}`, {
            gone,
            headers: many.read,
          });
        },
        100,
      );
    },
  },
  {
    shared: "connections to a subscriber's host: 8 webhooks that hang",
    async start({ many, urlOf }) {
      for (let n = 0; n < 8; n += 1) await many.addWebhook(urlOf('/hang'));
      for (let n = 0; n < 40; n += 1) await many.answer({ score: 9 });
      return undefined;
    },
  },
  {
    shared: 'replays: 20,000 deliveries, asked for 20 times',
    async start(scene) {
      const id = await skipDeliveries(scene);
      const replay = () =>
        fetch(`${scene.address}/api/webhooks/${id}/replay`, {
          method: 'POST',
          headers: { ...scene.many.write, 'Content-Type': 'application/json' },
          body: JSON.stringify({ since: '2020-01-01' }),
        });
      const asked = Promise.all(Array.from({ length: 20 }, replay));
      return () => asked;
    },
  },
  {
    shared: 'bounces: 8 callers hand in 1 MiB of line ends',
    start: ({ many, address }, gone) =>
      call(gone, () =>
        postTo(`${address}/api/bounces`, {
          gone,
          headers: { ...many.write, 'Content-Type': 'message/rfc822' },
          body: '\r\n'.repeat(512 * 1024),
        }),
      ),
  },
  {
    shared: 'public pages: 8 callers answer one shareable link',
    start: ({ many }, gone) =>
      call(gone, () =>
        postTo(many.shareUrl, { gone, body: JSON.stringify({ score: 7, comment: 'Fine' }) }),
      ),
  },
];

/** Runs this many callers that repeat `work` until the crowd leaves. */
async function call(gone: AbortSignal, work: () => Promise<unknown>, length = callers) {
  const crowd = Array.from({ length }, async () => {
    while (!gone.aborted) await work();
  });
  await sleep(beginMs);
  return () => Promise.all(crowd);
}

type Posted = { gone: AbortSignal; headers?: Record<string, string>; body: string };

async function postTo(url: string, { gone, headers, body }: Posted) {
  const request = { method: 'POST', body, signal: gone };
  const type = { Accept: 'application/json', 'Content-Type': 'application/json' };
  await fetch(url, { ...request, headers: { ...type, ...headers } }).then(
    (answer) => answer.arrayBuffer(),
    () => {}, // the caller has left
  );
}

async function getFrom(url: string, { gone, headers }: Omit<Posted, 'body'>) {
  await fetch(url, { signal: gone, ...(headers && { headers }) }).then(
    (answer) => answer.arrayBuffer(),
    () => {}, // the caller has left
  );
}

async function skipDeliveries({ db, many, urlOf }: CrowdScene): Promise<string> {
  const id = await many.addWebhook(urlOf('/'));
  const skipped = { org_id: many.id, webhook_id: id, status: 'skipped' };
  await addDeliveries(db, ...Array.from({ length: 20_000 }, () => skipped));
  return id;
}
