import { count, counted } from '../../web/app/lists.tsx';
import type { JudgementView } from '../judgement.ts';
import { campaignTexts, reasonText } from '../screen-texts.ts';

type JudgementProps = { judgement: JudgementView; csv: string };

/** How many will be mailed, in a number, a sentence and a bar. */
export function WhoIsMailed({ judgement }: { judgement: JudgementView }) {
  const { mailed, blocked, invalid, alreadyAsked } = judgement;
  const total = mailed + blocked + invalid + alreadyAsked;
  const skipped = blocked + alreadyAsked;
  return (
    <div>
      <h2 id="judgement" class="hidden">
        Who will be mailed
      </h2>
      <p class="now">
        <strong>{count(mailed)}</strong> <span>{campaignTexts.willBeMailed(mailed)}</span>
      </p>
      <p>{sentence(judgement, total)}</p>
      {total > 0 ? <Bar parts={[mailed, skipped, invalid]} /> : null}
      <dl class="sums">
        <div>
          <dt class="is-fine">Will be mailed</dt>
          <dd>{count(mailed)}</dd>
        </div>
        <div>
          <dt class="is-skipped">Skipped</dt>
          <dd>{count(skipped)}</dd>
        </div>
        <div>
          <dt class="is-failed">Invalid</dt>
          <dd>{count(invalid)}</dd>
        </div>
      </dl>
    </div>
  );
}

function sentence({ mailed, alreadyAsked, blocked }: JudgementView, total: number): string {
  if (total === 0) return campaignTexts.noContacts;
  if (mailed + blocked === 0 && alreadyAsked > 0) return campaignTexts.allAsked;
  return campaignTexts.others(total - mailed, total);
}

const barClasses = [undefined, 'is-skipped', 'is-failed'];

/** Parts of a whole, a hair apart. */
function Bar({ parts }: { parts: readonly number[] }) {
  const whole = parts.reduce((sum, part) => sum + part, 0);
  let x = 0;
  return (
    <svg class="bar" aria-hidden="true">
      {parts.map((part, place) => {
        const [from, width] = [x, (part / whole) * 100];
        x += width;
        return part === 0 ? null : (
          <rect class={barClasses[place]} x={`${from}%`} width={`${width}%`} height="100%" />
        );
      })}
    </svg>
  );
}

/** Why the others are not, each reason with a few of its addresses. */
export function WhyNot({ judgement, csv }: JudgementProps) {
  const { reasons, blocked, invalid, alreadyAsked } = judgement;
  const others = blocked + invalid + alreadyAsked;
  if (others === 0) return null;
  return (
    <section aria-labelledby="why">
      <div class="title">
        <h2 id="why">Why {count(others)} will not be mailed</h2>
        <a class="more" href={csv}>
          All as CSV
        </a>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a section would be a landmark with a line above it */}
      <div class="scroll" tabindex={0} role="region" aria-label="Reasons">
        <table>
          <caption class="hidden">
            Reasons, how many people each concerns, and what can be done
          </caption>
          <thead>
            <tr>
              <th scope="col" class="number">
                People
              </th>
              <th scope="col">Reason, and what you can do</th>
            </tr>
          </thead>
          <tbody>
            {reasons.map((reason) => (
              <Reason reason={reason} csv={csv} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

type ReasonProps = { reason: JudgementView['reasons'][number]; csv: string };

function Reason({ reason: { code, people, examples }, csv }: ReasonProps) {
  const { reason, advice } = reasonText(code);
  const more = people - examples.length;
  return (
    <tr>
      <td class="number">{count(people)}</td>
      <td>
        <div class="twofold">
          {examples.length === 0 ? (
            <span class="strong" title={code}>
              {reason}
            </span>
          ) : (
            <details class="reveal">
              <summary title={code}>{reason}</summary>
              <ul class="small soft">
                {examples.map((example) => (
                  <li>
                    <bdi>{example.email}</bdi>
                    {example.remark ? `, ${example.remark}` : ''}
                  </li>
                ))}
                {more > 0 ? (
                  <li>
                    <a class="more" href={csv}>
                      {counted(more, 'more', 'more')}
                    </a>
                  </li>
                ) : null}
              </ul>
            </details>
          )}
          <p class="soft">{advice}</p>
        </div>
      </td>
    </tr>
  );
}
