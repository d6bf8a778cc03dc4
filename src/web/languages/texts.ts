/** Everything that pages and mails say, in one language. A language that lacks a text does not compile. */
export type Texts = {
  /** What the ends of each scale mean; a CSAT survey names all of its scores, from the lowest up. */
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
  /** Shown when a click in the mail has already chosen a score. */
  chosen: string;
  scoreMissing: string;
  commentTooLong: (most: number) => string;
  tooManyAnswers: string;
  notSaved: string;
  /** In addition to the field and the link that only machines find. */
  leaveEmpty: string;
  doNotFollow: string;

  thanks: Message<[organization: string]>;
  answered: Message<[organization: string, when: string]>;
  yourScore: string;
  yourComment: string;
  closed: Message<[organization: string]>;
  draft: Message<[organization: string]>;
  notFound: Message<[]>;
  tooManyRequests: Message<[]>;
  tooLarge: Message<[]>;
  refused: Message<[]>;
  unavailable: Message<[]>;
  broken: Message<[]>;

  unsubscribe: Message<[email: string, organization: string]> & { action: string };
  unsubscribed: Message<[email: string, organization: string]> & { undo: string };
  resubscribed: Message<[email: string, organization: string]>;

  /** What a survey mail says in addition to the survey's own words. */
  mail: {
    greeting: (name: string | null) => string;
    /** Shown by mail programs after the subject. */
    preview: string;
    hint: string;
    openPage: string;
    whyCustomer: (organization: string) => string;
    whyEmployee: (organization: string) => string;
    sentTo: (address: string) => string;
  };
};

/** The words for the lowest and the highest score of a scale. */
export type ScaleEnds = { lowest: string; highest: string };

type Message<Values extends string[]> = { title: string; text: (...values: Values) => string };
