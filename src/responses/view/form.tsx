import { longestComment } from '../../limits.ts';
import { categories, type SurveyType } from '../../scores.ts';
import type { FollowUp } from '../../surveys/texts.ts';
import { isolate, type Language } from '../../web/language.ts';
import type { Texts } from '../../web/languages/texts.ts';
import { type HtmlPage, renderPage, type Sender } from '../../web/layout.tsx';
import { ScoreControl } from './controls.tsx';
import { followUpStyle, formStyle } from './style.ts';

/** The field that no person sees: only a machine fills it in. */
export const trapField = 'topic';

export type AskedSurvey = {
  type: SurveyType;
  question: string;
  /** The question above the comment, when the survey has its own. */
  followUp?: FollowUp | null;
  language: string;
  sender: Sender;
};

/** Why the form is shown again. */
export type Complaint = 'scoreMissing' | 'commentTooLong' | 'tooManyAnswers' | 'notSaved';

export type FormProps = {
  survey: AskedSurvey;
  language: Language;
  /** The page's own address, which the form is posted to. */
  action: string;
  /** Chosen by a button in the mail, or before a complaint. */
  score?: number | null;
  comment?: string;
  complaint?: Complaint | null;
  /** Fields the page carries through the form. */
  carried?: Record<string, string>;
  /** The target of the link that no person sees. */
  trapUrl: string;
  unsubscribeUrl?: string | null;
};

/** The survey itself: one question, a score, a comment. */
export function formPage(props: FormProps): HtmlPage {
  const { survey, language } = props;
  const { texts } = language;
  return renderPage({
    language,
    title: survey.question,
    sender: survey.sender,
    style: byCategory(survey) ? formStyle + followUpStyle : formStyle,
    body: <SurveyForm {...props} />,
    footer: props.unsubscribeUrl && <a href={props.unsubscribeUrl}>{texts.unsubscribeLink}</a>,
  });
}

function SurveyForm({ survey, language, action, ...props }: FormProps) {
  const { texts } = language;
  const { score = null, comment = '', complaint = null, carried = {}, trapUrl } = props;
  return (
    <form method="post" action={action}>
      <Complaining complaint={complaint} texts={texts} />
      <fieldset aria-describedby={complaint === 'scoreMissing' ? 'complaint' : undefined}>
        <legend>
          <h1 lang={survey.language} dir="auto">
            {survey.question}
          </h1>
        </legend>
        <ScoreControl
          type={survey.type}
          texts={texts}
          chosen={score}
          missing={complaint === 'scoreMissing'}
          marked={byCategory(survey) !== null}
        />
      </fieldset>
      <label class="comment" for="comment">
        <FollowUpText survey={survey} texts={texts} /> <small>({texts.optional})</small>
      </label>
      <textarea
        id="comment"
        name="comment"
        rows={4}
        maxlength={longestComment}
        dir="auto"
        aria-describedby={complaint === 'commentTooLong' ? 'complaint' : undefined}
      >
        {protectFirstBreak(comment)}
      </textarea>
      {Object.entries(carried).map(([name, value]) => (
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

const byCategory = ({ followUp }: AskedSurvey) =>
  !followUp || typeof followUp === 'string' ? null : followUp;

/** Of a question for each category the style shows that of the chosen score, to everybody alike. */
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

function Complaining({ complaint, texts }: { complaint: Complaint | null; texts: Texts }) {
  if (!complaint) return null;
  const sentence =
    complaint === 'commentTooLong' ? texts.commentTooLong(longestComment) : texts[complaint];
  return (
    <p class="complaint" id="complaint" role="alert">
      {sentence}
    </p>
  );
}

/** The honeypot for machines: off the page, inert, not in the tab order, hidden from assistive technology. */
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

/** HTML drops a line break right after the tag; one more keeps the one that was written. */
const protectFirstBreak = (text: string) => (/^\r?\n/.test(text) ? `\n${text}` : text);

/** A sender's name inside a sentence. */
export const named = (sender: Sender) => isolate(sender.name);
