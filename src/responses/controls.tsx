import type { Child } from 'hono/jsx';
import { type SurveyType, scaleOf } from '../scores.ts';
import { scaleEnds, type Texts } from '../web/language.ts';
import { Face, Star, Thumb } from './icons.tsx';

type ControlProps = { type: SurveyType; texts: Texts; chosen: number | null };

/** The scores of a survey's type to choose from: radio buttons, drawn as its type asks for. */
export function ScoreControl({ type, texts, chosen }: ControlProps) {
  return (
    <>
      <div class={`choices ${type}`}>
        {scoresOf(type).map((score) => (
          <label class="choice">
            <input
              type="radio"
              name="score"
              id={`score-${score}`}
              value={score}
              checked={score === chosen}
              required
            />
            <span>{drawScore(type, score, texts)}</span>
          </label>
        ))}
      </div>
      <Ends type={type} texts={texts} />
    </>
  );
}

/** A score in words, as the page calls it. */
export function scoreInWords(type: SurveyType, score: number, texts: Texts): string {
  if (type === 'csat') return texts.csat[score - 1] ?? String(score);
  if (type === 'star5') return texts.stars(score);
  if (type === 'thumbs') return score === 1 ? texts.thumbs.highest : texts.thumbs.lowest;
  return texts.scoreOf(score, scaleOf(type).highest);
}

/** Upwards, apart from thumbs: up comes first everywhere people know them from. */
function scoresOf(type: SurveyType): number[] {
  const { lowest, highest } = scaleOf(type);
  const scores = Array.from({ length: highest - lowest + 1 }, (_, step) => lowest + step);
  return type === 'thumbs' ? scores.reverse() : scores;
}

function drawScore(type: SurveyType, score: number, texts: Texts): Child {
  const words = scoreInWords(type, score, texts);
  if (type === 'csat') return [<Face mood={score - 1} />, <small>{words}</small>];
  if (type === 'thumbs') return [<Thumb down={score === 0} />, <small>{words}</small>];

  const { lowest, highest } = scaleOf(type);
  const ends = scaleEnds(type, texts);
  const end = score === lowest ? ends.lowest : score === highest ? ends.highest : null;
  if (type === 'star5') {
    return [<Star />, <span class="hidden">{end === null ? words : `${words}, ${end}`}</span>];
  }
  return [score, end && <span class="hidden"> {end}</span>];
}

/** What the first and the last score mean. Screen readers hear it with those two scores. */
function Ends({ type, texts }: { type: SurveyType; texts: Texts }) {
  // Both thumbs carry their words themselves.
  if (type === 'thumbs') return null;
  const ends = scaleEnds(type, texts);
  const { lowest, highest } = scaleOf(type);
  const numbered = type !== 'csat';
  return (
    <p class={`ends ${type}`} aria-hidden="true">
      <span>
        {numbered && <b>{lowest}</b>}
        {ends.lowest}
      </span>
      <span>
        {numbered && <b>{highest}</b>}
        {ends.highest}
      </span>
    </p>
  );
}
