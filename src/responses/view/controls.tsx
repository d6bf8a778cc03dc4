import type { Child } from 'hono/jsx';
import { categoryOf, type SurveyType, scaleOf, scoresInOrder } from '../../scores.ts';
import { scaleEnds } from '../../web/language.ts';
import type { Texts } from '../../web/languages/texts.ts';

type ControlProps = {
  type: SurveyType;
  texts: Texts;
  chosen: number | null;
  missing: boolean;
  /** Whether each score carries its category, for the style. */
  marked: boolean;
};

/** The scores to choose from: radio buttons, drawn for the survey's type. */
export function ScoreControl({ type, texts, chosen, missing, marked }: ControlProps) {
  return (
    <>
      <div class={`choices ${type}`}>
        {scoresInOrder(type).map((score) => (
          <label class="choice">
            <input
              type="radio"
              name="score"
              id={`score-${score}`}
              class={marked ? `is-${categoryOf(type, score)}` : undefined}
              value={score}
              checked={score === chosen}
              required
              // Else a required choice that is still open is read out as an error.
              aria-invalid={missing ? 'true' : 'false'}
            />
            <span>{drawScore(type, score, texts)}</span>
          </label>
        ))}
      </div>
      <Ends type={type} texts={texts} />
    </>
  );
}

/** A score in the page's words. */
export function scoreInWords(type: SurveyType, score: number, texts: Texts): string {
  if (type === 'csat') return texts.csat[score - 1] ?? String(score);
  if (type === 'star5') return texts.stars(score);
  if (type === 'thumbs') return score === 1 ? texts.thumbs.highest : texts.thumbs.lowest;
  return texts.scoreOf(score, scaleOf(type).highest);
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

/** What the first and the last score mean. Screen readers read it out with those two scores. */
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

// Drawings. They say nothing that the words do not, so screen readers pass over them.

const mouths = [
  'M9.5 24.5q6.5-9 13 0z',
  'M11 22.5q5-3.5 10 0',
  'M11 21.5h10',
  'M11 20q5 4 10 0',
  'M9.5 18.5q6.5 11.5 13 0z',
];

/** A face from very unhappy, 0, to very happy, 4. */
export const Face = ({ mood }: { mood: number }) => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <circle cx="16" cy="16" r="13.5" />
    <path d="M11.5 12.5v1.5M20.5 12.5v1.5" />
    <path d={mouths[mood]} class={mood % 4 === 0 ? 'full' : undefined} />
  </svg>
);

export const Star = () => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <path d="M16 3.5l3.9 8 8.8 1.2-6.4 6.1 1.6 8.7-7.9-4.2-7.9 4.2 1.6-8.7-6.4-6.1 8.8-1.2z" />
  </svg>
);

export const Thumb = ({ down = false }) => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <path
      d="M11 14l4.5-9.5a3 3 0 0 1 3 3.2V12h6a2.5 2.5 0 0 1 2.5 2.9l-1.4 9.6a2.5 2.5 0 0 1-2.5 2H11zM11 14v12.5H5.5V14z"
      transform={down ? 'rotate(180 16 16)' : undefined}
    />
  </svg>
);

export const Check = () => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <path d="M8 16.8l5.4 5.4L24 11" pathLength="1" />
  </svg>
);
