import { type SurveyType, scoresInOrder } from '../scores.ts';
import { edgeContrast, mix, readableOn } from '../web/color.ts';
import { languageOf, scaleEnds } from '../web/language.ts';
import type { Texts } from '../web/languages/texts.ts';
import { shareUrl } from './create.ts';
import type { ManagedSurvey } from './manage.queries.ts';
import { anyPerson, fillIn } from './placeholders.ts';

type SnippetLook = { publicUrl: string; color: string };

/**
 * The question and a link for each score as HTML that any mail program shows: a table, its styles inline, nothing
 * loaded. The links are those of the shareable link, with a score chosen.
 */
export function scoreButtons(survey: ManagedSurvey, { publicUrl, color }: SnippetLook): string {
  const { texts } = languageOf(survey.language);
  const url = shareUrl(publicUrl, survey);
  const ends = scaleEnds(survey.type, texts);
  const scores = scoresInOrder(survey.type);
  const html = (
    <table role="presentation" cellpadding="0" cellspacing="0" border={0} dir={texts.direction}>
      <tbody>
        <tr>
          <td
            style={`padding:0 0 8px;${font};font-size:16px;line-height:22px`}
            lang={survey.language}
          >
            {fillIn(survey.question_text, anyPerson)}
          </td>
        </tr>
        <tr>
          <td style="line-height:52px">
            {scores.map((score) => (
              <a href={`${url}?score=${score}`} style={buttonStyle(color)}>
                {caption(survey.type, score, texts)}
              </a>
            ))}
          </td>
        </tr>
        {survey.type === 'thumbs' ? null : (
          <tr>
            <td style={`padding:4px 0 0;${font};font-size:13px;line-height:18px`}>
              {`${scores[0]} = ${ends.lowest}, ${scores.at(-1)} = ${ends.highest}`}
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
  return String(html).replaceAll('<a ', '\n<a ').replaceAll('<tr>', '\n<tr>');
}

const font = 'font-family:Arial,Helvetica,sans-serif';

function buttonStyle(color: string): string {
  const ground = mix('#ffffff', color, 0.09);
  const ink = readableOn(color, ground);
  const edge = readableOn(color, '#ffffff', edgeContrast);
  return `display:inline-block;min-width:24px;margin:0 4px 4px 0;padding:10px;${font};font-size:16px;font-weight:bold;line-height:22px;text-align:center;text-decoration:none;color:${ink};background:${ground};border:1px solid ${edge};border-radius:8px`;
}

function caption(type: SurveyType, score: number, { thumbs }: Texts): string {
  if (type === 'star5') return `${score}\u00a0★`;
  if (type !== 'thumbs') return String(score);
  return score === 0 ? `👎 ${thumbs.lowest}` : `👍 ${thumbs.highest}`;
}
