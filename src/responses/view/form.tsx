import type { Child } from 'hono/jsx';
import { maxCommentLength } from '../../limits.ts';
import {
  categories,
  categoryOf,
  type SurveyType,
  scoresInOrder,
  typeFacts,
} from '../../survey-types.ts';
import type { FollowUp } from '../../surveys/texts.ts';
import { isolate, type Language, scoreLabel } from '../../web/language.ts';
import type { Texts } from '../../web/languages/en.ts';
import { type HtmlPage, protectFirstBreak, renderPage, type Sender } from '../../web/layout.tsx';
import { followUpStyle, formStyle, frameStyle } from './style.ts';

/** Honeypot field, hidden from people. */
export const trapField = 'topic';

export type AskedSurvey = {
  type: SurveyType;
  question: string;
  followUp?: FollowUp | null;
  language: string;
  sender: Sender;
};

export type Complaint = 'scoreMissing' | 'commentTooLong' | 'tooManyAnswers' | 'notSaved';

export type FormProps = {
  survey: AskedSurvey;
  language: Language;
  action: string;
  score?: number | null;
  comment?: string;
  complaint?: Complaint | null;
  hiddenFields?: Record<string, string>;
  trapUrl: string;
  unsubscribeUrl?: string | null;
  /** A frame shows the comment field once a score is chosen. */
  inFrame?: boolean;
};

export function formPage(props: FormProps): HtmlPage {
  const { survey, language } = props;
  const { texts } = language;
  return renderPage({
    language,
    title: survey.question,
    sender: survey.sender,
    style: [
      formStyle,
      followUpByCategory(survey) ? followUpStyle : '',
      props.inFrame ? frameStyle : '',
    ].join(''),
    body: <SurveyForm {...props} />,
    footer: props.unsubscribeUrl && <a href={props.unsubscribeUrl}>{texts.unsubscribe.action}</a>,
  });
}

function SurveyForm({ survey, language, action, ...props }: FormProps) {
  const { texts } = language;
  const { type } = survey;
  const scores = scoresInOrder(type);
  const { score = null, comment = '', complaint = null, hiddenFields = {}, trapUrl } = props;
  const isMissing = complaint === 'scoreMissing';
  const marks = followUpByCategory(survey) !== null;
  return (
    <form method="post" action={action}>
      {complaint ? (
        <p class="complaint" id="complaint" role="alert">
          {complaint === 'commentTooLong'
            ? texts.commentTooLong(maxCommentLength)
            : texts[complaint]}
        </p>
      ) : null}
      <fieldset aria-describedby={isMissing ? 'complaint' : undefined}>
        <legend>
          <h1 lang={survey.language} dir="auto">
            {survey.question}
          </h1>
        </legend>
        <div class={`choices ${typeFacts(type).control}${scores.length > 7 ? ' many' : ''}`}>
          {scores.map((each) => (
            <label class="choice">
              <input
                type="radio"
                name="score"
                id={`score-${each}`}
                class={marks ? `is-${categoryOf(type, each)}` : undefined}
                value={each}
                checked={each === score}
                required
                // Keeps screen readers from announcing an unanswered required choice as an error.
                aria-invalid={isMissing ? 'true' : 'false'}
              />
              <span>{drawScore(type, each, texts)}</span>
            </label>
          ))}
        </div>
        <Ends type={type} texts={texts} />
      </fieldset>
      <label class="comment" for="comment">
        <FollowUpText survey={survey} texts={texts} /> <small>({texts.optional})</small>
      </label>
      <textarea
        id="comment"
        name="comment"
        rows={4}
        maxlength={maxCommentLength}
        dir="auto"
        aria-describedby={complaint === 'commentTooLong' ? 'complaint' : undefined}
      >
        {protectFirstBreak(comment)}
      </textarea>
      {Object.entries(hiddenFields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <Trap texts={texts} url={trapUrl} />
      <div class="send">
        <button type="submit">{texts.send}</button>
        {score !== null && !complaint && <p>{texts.chosen}</p>}
      </div>
    </form>
  );
}

const followUpByCategory = ({ followUp }: AskedSurvey) =>
  !followUp || typeof followUp === 'string' ? null : followUp;

function FollowUpText({ survey, texts }: { survey: AskedSurvey; texts: Texts }) {
  const { followUp, language } = survey;
  if (!followUp) return texts.comment;
  const own = (text: string) => (
    <bdi lang={language} dir="auto">
      {text}
    </bdi>
  );
  if (typeof followUp === 'string') return own(followUp);
  return (
    <>
      <span class="ask">{texts.comment}</span>
      {categories.map((category) => (
        <span class={`ask ${category}`}>
          {followUp[category] === undefined ? texts.comment : own(followUp[category])}
        </span>
      ))}
    </>
  );
}

/** Honeypot: off the page, inert, out of the tab order, hidden from assistive technology. */
const Trap = ({ texts, url }: { texts: Texts; url: string }) => (
  <div class="away" aria-hidden="true" inert>
    <label>
      {texts.leaveEmpty}
      <input type="text" name={trapField} tabindex={-1} autocomplete="off" value="" />
    </label>
    <a href={url} tabindex={-1} rel="nofollow">
      {texts.doNotFollow}
    </a>
  </div>
);

export const senderName = (sender: Sender) => isolate(sender.name);

export function scoreInWords(type: SurveyType, score: number, texts: Texts): string {
  const { control, highest } = typeFacts(type);
  if (control === 'star') return texts.stars(score);
  if (control === 'number') return texts.scoreOf(score, highest);
  return scoreLabel(type, score, texts) ?? String(score);
}

function drawScore(type: SurveyType, score: number, texts: Texts): Child {
  const { control, lowest } = typeFacts(type);
  const label = scoreLabel(type, score, texts);
  if (control === 'face') return [<Face mood={score - lowest} />, <small>{label}</small>];
  if (control === 'thumb') return [<Thumb down={score === 0} />, <small>{label}</small>];
  if (control === 'number') return [score, label && <span class="hidden"> {label}</span>];
  const words = [texts.stars(score), label ?? []].flat().join(', ');
  return [<Star />, <span class="hidden">{words}</span>];
}

/** Hidden from screen readers, which get these labels with the first and last score. */
function Ends({ type, texts }: { type: SurveyType; texts: Texts }) {
  const { lowest, highest, control } = typeFacts(type);
  if (control === 'thumb') return null;
  return (
    <p class={`ends ${control}`} aria-hidden="true">
      {[lowest, highest].map((score) => (
        <span>
          {control !== 'face' && <b>{score}</b>}
          {scoreLabel(type, score, texts)}
        </span>
      ))}
    </p>
  );
}

const mouths = [
  'M9.5 24.5q6.5-9 13 0z',
  'M11 22.5q5-3.5 10 0',
  'M11 21.5h10',
  'M11 20q5 4 10 0',
  'M9.5 18.5q6.5 11.5 13 0z',
];

const Face = ({ mood }: { mood: number }) => (
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
