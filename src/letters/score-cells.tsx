import { raw } from 'hono/html';
import type { SurveyType } from '../scores.ts';
import { scaleEnds } from '../web/language.ts';
import type { Letter } from './letter.ts';
import { colorsOf, outlookOnly, quiet } from './letter-style.ts';

/** A finger needs 44 px, the border counted; a row of six of them fits the narrowest phone. */
const cellPx = 42;
const gapPx = 4;
/** Two of them, with the gaps, fit the narrowest phone. */
const thumbPx = 136;

/** How many scores stay together. Where both rows fit next to each other they make one. */
const firstRow: Record<SurveyType, number> = { nps: 6, csat: 5, ces: 4, star5: 5, thumbs: 2 };

/** One link for each score, in cells that wrap as two rows without the help of a style sheet. */
export function Scores({ letter }: { letter: Letter }) {
  const { type, scores, language } = letter;
  const { lowest, highest } = scaleEnds(type, language.texts);
  const rows = [scores.slice(0, firstRow[type]), scores.slice(firstRow[type])];
  return (
    <>
      {raw(outlookOnly('<table role="presentation"><tr><td>'))}
      {rows
        .filter((row) => row.length > 0)
        .map((row, at) => (
          <>
            {at > 0 && raw(outlookOnly('</td><td>'))}
            <RowOfCells letter={letter} scores={row} />
          </>
        ))}
      {raw(outlookOnly('</td></tr></table>'))}
      {type !== 'thumbs' && (
        <div
          class="quiet"
          style={`padding:8px 12px 0;font-size:14px;line-height:20px;color:${quiet}`}
        >
          {`${scores[0]} = ${lowest} · ${scores.at(-1)} = ${highest}`}
        </div>
      )}
    </>
  );
}

function RowOfCells({ letter, scores }: { letter: Letter; scores: number[] }) {
  return (
    <table
      role="presentation"
      cellpadding="0"
      cellspacing={String(gapPx)}
      border={0}
      style={`display:inline-table;vertical-align:top;border-spacing:${gapPx}px;margin:0 -${gapPx / 2}px`}
    >
      <tbody>
        <tr>
          {scores.map((score) => (
            <Cell letter={letter} score={score} />
          ))}
        </tr>
      </tbody>
    </table>
  );
}

function Cell({ letter, score }: { letter: Letter; score: number }) {
  const { type, links, organization } = letter;
  const { cell, edge, score: ink } = colorsOf(organization.color);
  const width = type === 'thumbs' ? thumbPx : type === 'star5' ? 52 : cellPx;
  const link = [
    `display:block;width:${width}px;height:${cellPx}px;line-height:${cellPx}px`,
    `font-size:${type === 'thumbs' ? 14 : 17}px;font-weight:bold;color:${ink}`,
    'text-decoration:none;text-align:center;white-space:nowrap;border-radius:7px',
  ].join(';');
  return (
    <td
      class="cell"
      align="center"
      width={String(width)}
      height={String(cellPx)}
      bgcolor={cell}
      style={`width:${width}px;height:${cellPx}px;background:${cell};border:1px solid ${edge};border-radius:8px`}
    >
      <a href={links.score(score)} style={link}>
        {caption(letter, score)}
      </a>
    </td>
  );
}

function caption({ type, language }: Letter, score: number): string {
  if (type === 'star5') return `${score}\u00a0★`;
  if (type !== 'thumbs') return String(score);
  const { lowest, highest } = language.texts.thumbs;
  return score === 0 ? `👎 ${lowest}` : `👍 ${highest}`;
}
