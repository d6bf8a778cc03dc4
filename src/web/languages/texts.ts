import type { Category } from '../../survey-types.ts';

/** All texts of survey pages and emails in one language. */
export type Texts = {
  /** Labels of the ends of each scale. CSAT labels all scores, lowest first. */
  nps: ScaleEnds;
  ces: ScaleEnds;
  csat: readonly [string, string, string, string, string];
  star5: ScaleEnds;
  thumbs: ScaleEnds;
  stars: (count: number) => string;
  scoreOf: (score: number, highest: number) => string;

  comment: string;
  optional: string;
  send: string;
  /** Shown when a click in the email has already selected a score. */
  chosen: string;
  scoreMissing: string;
  commentTooLong: (most: number) => string;
  tooManyAnswers: string;
  notSaved: string;
  /** Labels of the honeypot field and link. */
  leaveEmpty: string;
  doNotFollow: string;

  thanks: Message<[organization: string]>;
  answered: Message<[organization: string, when: string]>;
  yourScore: string;
  yourComment: string;
  /** Follow-up questions, after the score. */
  questions: {
    send: string;
    finish: string;
    other: string;
    /** Above a question that takes several options. */
    several: string;
    missing: string;
    notSaved: string;
    /** Shown when a script has saved an answer. */
    saved: string;
  };
  closed: Message<[organization: string]>;
  draft: Message<[organization: string]>;
  notFound: Notice;
  tooManyRequests: Notice;
  refused: Notice;
  unavailable: Notice;
  broken: Notice;

  unsubscribe: Message<[email: string, organization: string]> & { action: string };
  unsubscribed: Message<[email: string, organization: string]> & { undo: string };
  resubscribed: Message<[email: string, organization: string]>;

  /** Texts of survey emails besides the survey's own. */
  mail: {
    greeting: (name: string | null) => string;
    /** Shown in inboxes after the subject. */
    preview: string;
    hint: string;
    openPage: string;
    whyCustomer: (organization: string) => string;
    whyEmployee: (organization: string) => string;
    sentTo: (address: string) => string;
  };

  /** Texts of new surveys that start from a template. */
  templates: (organization: string) => Readonly<Record<TemplateSubject, TemplateTexts>>;
};

export type TemplateSubject = 'nps' | 'support' | 'effort' | 'delivery' | 'website' | 'employees';

export type TemplateTexts = {
  question_text: string;
  subject: string;
  follow_up: string | Readonly<Record<Category, string>>;
  thanks: string;
  questions: readonly TemplateQuestion[];
};

type TemplateQuestion = {
  text: string;
  min_label?: string;
  max_label?: string;
  options?: readonly string[];
};

export type ScaleEnds = { lowest: string; highest: string };

type Notice = { title: string; text: string };

type Message<Values extends string[]> = { title: string; text: (...values: Values) => string };
