import { randomUUID } from 'node:crypto';
import type { Db } from '../../../src/lib/db/db.ts';
import { makeClient, makeSurvey } from './rows.ts';

/** A response of a twin, with the values that find it. Times have microseconds. */
export type TwinRow = {
  id: string;
  at: string;
  survey: number;
  score: number;
  category: 'promoter' | 'passive' | 'detractor';
  comment: string | null;
  language: string | null;
  state: 'open' | 'done' | null;
  owned: boolean;
  held: boolean;
  plan: string;
  tagged: boolean;
  sentiment: 'negative' | 'positive' | null;
};

export type Twin = Awaited<ReturnType<typeof makeTwin>>;

const categories = ['promoter', 'passive', 'detractor'] as const;
const twinSurveys = [
  { type: 'nps', audience: null },
  { type: 'nps', audience: 'employee' },
  { type: 'ces', audience: null },
] as const;

/**
 * Two organizations whose responses have the same ids and days and otherwise differ. A statement that forgets the
 * organization finds data of the other one.
 */
export async function makeTwins(db: Db): Promise<[Twin, Twin]> {
  const places = placesOfDays();
  return [await makeTwin(db, places, 0), await makeTwin(db, places, 1)];
}

type Place = { at: string; day: string; n: number; ids: string[] };

/** The number of responses per day and the minutes between them. Days with many responses have one on hold. */
const days: readonly [day: string, many: number, minutes: number][] = [
  ['2024-03-03', 5, 300],
  ['2024-03-04', 25, 57],
  ['2024-03-05', 24, 60],
  ['2024-03-06', 76, 18],
  ['2024-03-07', 25, 0],
  ['2024-03-08', 65, 20],
  ['2024-03-10', 12, 0],
];

/**
 * The first response of a day is at midnight and the last one in the last microsecond, except on days whose responses
 * have one time.
 */
function placesOfDays(): Place[] {
  return days.flatMap(([day, many, minutes]) => {
    const ids = Array.from({ length: many }, () => randomUUID());
    return ids.map((_, n) => {
      const minute = minutes * n;
      const clock = [Math.floor(minute / 60), minute % 60].map((part) =>
        String(part).padStart(2, '0'),
      );
      const time =
        minutes > 0 && n === many - 1 ? '23:59:59.999999' : `${clock.join(':')}:00.000000`;
      return { at: `${day}T${time}Z`, day, n, ids };
    });
  });
}

/** The second twin has shifted values and the ids in reverse order. */
function rowOf({ at, day, n, ids }: Place, which: 0 | 1): TwinRow {
  const k = (n + 7 * which) % ids.length;
  const isFew = day < '2024-03-06';
  return {
    id: ids.at(which === 0 ? n : -1 - n)!,
    at,
    survey: day === '2024-03-04' ? 0 : (k + which) % 3,
    score: k % 8,
    category: categories[((k + which) % 5) % 3]!,
    comment: k % 4 === which ? `Comment ${which}` : null,
    language: k % 3 === 0 ? 'de' : k % 3 === 1 ? 'en' : null,
    state: k % 7 === 0 ? 'done' : ((k + which) % 5) % 3 === 2 ? 'open' : null,
    owned: k % 6 < 2 + which,
    held: k === 15,
    plan: isFew ? (k < 8 ? 'eight' : k < 16 ? 'seven' : 'nine') : ['eight', 'pro', 'nine'][k % 3]!,
    tagged: k % 2 === which,
    sentiment: k % 5 === which ? 'negative' : k % 5 === 3 ? 'positive' : null,
  };
}

async function makeTwin(db: Db, places: readonly Place[], which: 0 | 1) {
  const { id: org, read } = await makeClient(db);
  const surveys: string[] = [];
  for (const kind of twinSurveys) surveys.push(await makeSurvey(db, org, kind));
  const email = `${org}@members.test`;
  const [owner] = await db<{ id: string }[]>`
    insert into members (email, name) values (${email}, 'Ann') returning id`;
  await db`
    insert into memberships (org_id, member_id, role) values (${org}, ${owner!.id}, 'editor')`;
  const [tag] = await db<{ id: string }[]>`
    insert into tags (org_id, name, color) values (${org}, 'urgent', '#ffffff') returning id`;
  const rows = places.map((place) => rowOf(place, which));
  const twin = { org, read, surveys, tag: tag!.id, owner: owner!.id, email, rows };
  await insertRows(db, twin);
  return twin;
}

type Made = Pick<Twin, 'org' | 'surveys' | 'tag' | 'owner' | 'rows'>;

async function insertRows(db: Db, { org, surveys, tag, owner, rows }: Made) {
  const given = db`json_to_recordset(${JSON.stringify(rows)}::text::json) as g (
    id uuid, at timestamptz, survey integer, score smallint, category text, comment text, language text, state text,
    owned boolean, held boolean, plan text, tagged boolean, sentiment text)`;
  await db`
    insert into responses (id, org_id, survey_id, score, category, comment, language, chosen_state, owner_id,
                           held_reason, properties, created_at)
    select id, ${org}, (${surveys}::uuid[])[1 + survey], score, category, comment, language, coalesce(state, 'none'),
           case when owned then ${owner}::uuid end, case when held then 'trap' end, jsonb_build_object('plan', plan), at
    from ${given}`;
  await db`
    insert into response_tags (org_id, response_id, tag_id)
    select ${org}, id, ${tag} from ${given} where tagged and not held`;
  await db`
    insert into analyses (org_id, response_id, sentiment, provider)
    select ${org}, id, sentiment, 'test' from ${given} where sentiment is not null and not held`;
}
