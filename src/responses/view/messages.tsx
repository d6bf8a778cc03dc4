import type { Child } from 'hono/jsx';
import {
  AnswersRecap,
  QuestionsForm,
  type QuestionsProps,
  questionsStyle,
  saveScript,
} from '../../questions/view.tsx';
import type { SurveyType } from '../../survey-types.ts';
import type { ThanksWithLink } from '../../surveys/texts.ts';
import type { Language } from '../../web/language.ts';
import type { Texts } from '../../web/languages/en.ts';
import { type HtmlPage, renderPage, type Sender } from '../../web/layout.tsx';
import { type AskedSurvey, Check, scoreInWords, senderName } from './form.tsx';
import { formStyle, linkStyle, messageStyle } from './style.ts';

export type ShownAnswer = { score: number; comment: string | null; at: Date };

type SurveyPage = {
  survey: AskedSurvey;
  language: Language;
  /** Follow-up questions with their answers, read-only if `isFinal`. */
  questions?: QuestionsProps | undefined;
  isFinal?: boolean;
};

/** Responses on hold get the same page, so that machines learn nothing. */
export function thanksPage({
  thanks = null,
  answer,
  ...page
}: SurveyPage & { thanks?: ThanksWithLink | null; answer: ShownAnswer | null }): HtmlPage {
  const { survey, language } = page;
  const { title, text } = language.texts.thanks;
  return messagePage({ ...frameOf(page, thanks?.link_url ? linkStyle : ''), title }, [
    <CheckMark />,
    thanks?.text ? (
      <Thanks title={title} text={thanks.text} language={survey.language} />
    ) : (
      <Heading title={title} text={text(senderName(survey.sender))} />
    ),
    thanks?.link_url && <ThanksLink url={thanks.link_url} text={thanks.link_text} />,
    ...answerParts(page, answer),
  ]);
}

export function answeredPage({ answer, ...page }: SurveyPage & { answer: ShownAnswer }): HtmlPage {
  const { survey, language } = page;
  const { title, text } = language.texts.answered;
  const when = new Intl.DateTimeFormat(language.tag, { dateStyle: 'long' }).format(answer.at);
  return messagePage({ ...frameOf(page), title }, [
    <CheckMark />,
    <Heading title={title} text={text(senderName(survey.sender), when)} />,
    ...answerParts(page, answer),
  ]);
}

/** A form with the follow-up questions above the submitted answer, or one read-only list. */
function answerParts(
  { survey, language, questions, isFinal }: SurveyPage,
  answer: ShownAnswer | null,
) {
  const recap = answer && (
    <Recap
      type={survey.type}
      answer={answer}
      texts={language.texts}
      questions={isFinal ? questions : undefined}
    />
  );
  return questions && !isFinal ? [<QuestionsForm {...questions} />, recap] : [recap];
}

const frameOf = ({ survey, language, questions, isFinal }: SurveyPage, style = '') => {
  const asks = questions !== undefined && !isFinal;
  return {
    language,
    sender: survey.sender,
    style: `${messageStyle}${style}${asks ? formStyle + questionsStyle : ''}`,
    script: asks ? saveScript : undefined,
  };
};

export function notTakingAnswersPage(
  why: 'closed' | 'draft',
  { survey, language }: SurveyPage,
): HtmlPage {
  const { title, text } = language.texts[why];
  return messagePage({ language, sender: survey.sender, title }, [
    <Heading title={title} text={text(senderName(survey.sender))} />,
  ]);
}

type Unsaved = { action: string; fields: Readonly<Record<string, string | readonly string[]>> };

/** A form that submits the answer again, because the link could not be looked up. */
export function notSavedPage(language: Language, { action, fields }: Unsaved): HtmlPage {
  const { unavailable, notSaved, yourComment, send } = language.texts;
  const comment = fields['comment'];
  return messagePage({ language, title: unavailable.title }, [
    <Heading title={unavailable.title} text={notSaved} />,
    comment && (
      <dl>
        <dt>{yourComment}</dt>
        <dd dir="auto">{comment}</dd>
      </dl>
    ),
    <form method="post" action={action}>
      {Object.entries(fields).map(([name, values]) =>
        [values].flat().map((value) => <input type="hidden" name={name} value={value} />),
      )}
      <button type="submit">{send}</button>
    </form>,
  ]);
}

type Frame = {
  language: Language;
  title: string;
  sender?: Sender;
  style?: string;
  script?: string | undefined;
};

const messagePage = (frame: Frame, body: Child): HtmlPage =>
  renderPage({ style: messageStyle, ...frame, body });

const CheckMark = () => (
  <div class="sign">
    <Check />
  </div>
);

const Heading = ({ title, text }: { title: string; text: string }) => (
  <>
    <h1>{title}</h1>
    <p>{text}</p>
  </>
);

type ThanksProps = { title: string; text: string; language: string };

const Thanks = ({ title, text, language }: ThanksProps) => (
  <>
    <h1>{title}</h1>
    {text.split(/\r\n|\r|\n/).map((line) => (
      <p lang={language} dir="auto">
        {line}
      </p>
    ))}
  </>
);

const ThanksLink = ({ url, text }: { url: string; text: string | undefined }) => (
  <p class="on">
    <a href={url} rel="noopener noreferrer">
      {text ?? new URL(url).host}
    </a>
  </p>
);

type RecapProps = {
  type: SurveyType;
  answer: ShownAnswer;
  texts: Texts;
  questions: QuestionsProps | undefined;
};

const Recap = ({ type, answer: { score, comment }, texts, questions }: RecapProps) => (
  <dl>
    <dt>{texts.yourScore}</dt>
    <dd>{scoreInWords(type, score, texts)}</dd>
    {comment && (
      <>
        <dt>{texts.yourComment}</dt>
        <dd dir="auto">{comment}</dd>
      </>
    )}
    {questions && <AnswersRecap {...questions} />}
  </dl>
);
