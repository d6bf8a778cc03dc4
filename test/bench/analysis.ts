import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createBuiltinAnalyst } from '../../src/summaries/builtin.ts';
import { readComment } from '../../src/summaries/read-comment.ts';
import { vocabulary } from '../../src/summaries/themes.ts';
import { number, type Section, table } from './report.ts';

/** Labelled sentences (0 is negative, 1 positive), as the development dependency `sentiment` ships them. */
const sets = ['amazon', 'imdb', 'yelp'] as const;
type Labelled = { text: string; class: 0 | 1 };
type Tried = { sentences: number; right: number; wrong: number; left: number };

const require = createRequire(import.meta.url);

/** How often the built-in analyst reads a sentence rightly, by its words alone, and how quickly. */
export async function analysis(): Promise<Section[]> {
  const analyst = createBuiltinAnalyst(readComment);
  const themes = vocabulary([]);
  const tone = async (comment: string) => {
    // the score of a passive says nothing: what comes back was in the words
    const remark = {
      orgId: 'bench',
      comment,
      score: 8,
      type: 'nps',
      category: 'passive',
      language: 'en',
    } as const;
    const answer = await analyst.analyze({ ...remark, themes });
    if (!answer.ok) throw new Error(answer.why);
    return answer.value.sentiment;
  };

  await tone('The first comment loads the language model.');
  const rows: string[][] = [];
  const all: Tried = { sentences: 0, right: 0, wrong: 0, left: 0 };
  const began = performance.now();
  for (const set of sets) {
    const tried = await tryOut(labelled(set), tone);
    rows.push(row(set, tried));
    for (const key of Object.keys(all) as (keyof Tried)[]) all[key] += tried[key];
  }
  const each = (performance.now() - began) / all.sentences;
  rows.push(row('all', all));
  const heads = ['sentences of', 'number', 'read rightly', 'wrongly', 'left to the score', 'right'];
  return [
    {
      title: 'Sentiment of the built-in analyst',
      lines: [
        ...table(heads, rows),
        '',
        `The share that is right is of the sentences whose words it takes a side on. A comment takes ${number(each, 2)} ms.`,
      ],
    },
  ];
}

const labelled = (set: string) =>
  JSON.parse(
    readFileSync(require.resolve(`sentiment/test/fixtures/${set}.json`), 'utf8'),
  ) as Labelled[];

async function tryOut(
  sentences: readonly Labelled[],
  tone: (comment: string) => Promise<string>,
): Promise<Tried> {
  const tried = { sentences: sentences.length, right: 0, wrong: 0, left: 0 };
  for (const { text, class: label } of sentences) {
    const received = await tone(text);
    if (received !== 'positive' && received !== 'negative') tried.left += 1;
    else if ((received === 'positive') === (label === 1)) tried.right += 1;
    else tried.wrong += 1;
  }
  return tried;
}

const row = (name: string, { sentences, right, wrong, left }: Tried) => [
  name,
  ...[sentences, right, wrong, left].map((count) => number(count)),
  `${number((100 * right) / (right + wrong), 1)}%`,
];
