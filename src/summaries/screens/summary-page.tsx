import { signedNps } from '../../scores.ts';
import { count, counted, Facts } from '../../web/app/lists.tsx';
import { Tag, Time } from '../../web/app/marks.tsx';
import type { SummaryBefore } from '../summary.queries.ts';
import { periodText } from './period-text.ts';

/** How the score compares to that of the period before. */
export const compareScores = (now: number | null, before: number | null): string => {
  if (now === null) return 'No answer counted in this period.';
  if (before === null)
    return 'No answer counted in the period before, so there is nothing to compare with.';
  if (now === before) return `As in the period before: ${signedNps(before)}.`;
  const points = Math.abs(now - before);
  return `${now > before ? 'Up' : 'Down'} ${points} ${points === 1 ? 'point' : 'points'} from ${signedNps(before)} in the period before.`;
};

export type ShownSummary = {
  id: string;
  period_start: string;
  period_end: string;
  nps: number | null;
  previous_nps: number | null;
  responses: number;
  top_themes: string[];
  text: string;
  created_at: string;
};

type SummaryPageProps = {
  summary: ShownSummary;
  before: SummaryBefore | undefined;
  timeZone: string;
  /** Where the list is. */
  list: string;
  responses: string;
};

/** One summary, to be read and printed. */
export function SummaryPage({ summary, before, timeZone, list, responses }: SummaryPageProps) {
  return (
    <>
      <section class="columns score" aria-labelledby="score">
        <div>
          <h2 id="score">Net Promoter Score</h2>
          <p class="now">
            <strong>{summary.nps === null ? 'none' : signedNps(summary.nps)}</strong>
          </p>
          <p>{compareScores(summary.nps, summary.previous_nps)}</p>
          <Facts
            facts={[
              ['Answers', <a href={responses}>{count(summary.responses)}</a>],
              ['Written', <Time at={summary.created_at} />],
            ]}
          />
        </div>
        <div class="prose">
          {blocksOf(summary.text).map((block) =>
            typeof block === 'string' ? (
              <p>{block}</p>
            ) : (
              <ul>
                {block.map((quote) => (
                  <li>{quote}</li>
                ))}
              </ul>
            ),
          )}
          {summary.top_themes.length > 0 ? (
            <p class="tags">
              {summary.top_themes.map((name) => (
                <Tag name={name} />
              ))}
            </p>
          ) : null}
        </div>
      </section>
      {before ? <SinceBefore {...{ summary, before, timeZone, list }} /> : null}
    </>
  );
}

const listMark = '- ';

/** The paragraphs of a summary; lines of a list that follow each other are one block. */
function blocksOf(text: string): (string | string[])[] {
  const blocks: (string | string[])[] = [];
  for (const line of text.split(/\n+/).filter((each) => each.trim() !== '')) {
    const list = blocks.at(-1);
    if (!line.startsWith(listMark)) blocks.push(line);
    else if (Array.isArray(list)) list.push(line.slice(listMark.length));
    else blocks.push([line.slice(listMark.length)]);
  }
  return blocks;
}

type SinceProps = {
  summary: ShownSummary;
  before: SummaryBefore;
  timeZone: string;
  list: string;
};

function SinceBefore({ summary, before, timeZone, list }: SinceProps) {
  const gone = before.top_themes.filter((name) => !summary.top_themes.includes(name));
  const added = summary.top_themes.filter((name) => !before.top_themes.includes(name));
  return (
    <section aria-labelledby="since">
      <div class="title">
        <h2 id="since">Since the last summary</h2>
        <a class="more" href={`${list}/${before.id}`}>
          {periodText(before, timeZone)}
        </a>
      </div>
      <Facts
        facts={[
          ['Score', `${shown(before.nps)} then, ${shown(summary.nps)} now`],
          [
            'Answers',
            `${counted(before.responses, 'answer')} then, ${count(summary.responses)} now`,
          ],
          ['New themes', added.length > 0 ? added.join(', ') : 'none'],
          ['No longer among the first', gone.length > 0 ? gone.join(', ') : 'none'],
        ]}
      />
    </section>
  );
}

const shown = (nps: number | null) => (nps === null ? 'none' : signedNps(nps));
