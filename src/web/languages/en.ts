import type { Category } from '../../survey-types.ts';

/** All texts of survey pages and emails. The other languages have the same. */
export const en = {
  /** Labels of scores: of all scores, lowest first, or of the lowest and the highest. */
  likelihood: ['Not at all likely', 'Extremely likely'] as Labels,
  ease: ['Very difficult', 'Very easy'] as Labels,
  satisfaction: [
    'Very dissatisfied',
    'Dissatisfied',
    'Neutral',
    'Satisfied',
    'Very satisfied',
  ] as Labels,
  quality: ['Poor', 'Excellent'] as Labels,
  thumbs: ['Thumbs down', 'Thumbs up'] as Labels,
  stars: (count: number) => (count === 1 ? '1 star' : `${count} stars`),
  scoreOf: (score: number, highest: number) => `${score} out of ${highest}`,

  comment: 'What is the main reason for your score?',
  optional: 'optional',
  send: 'Send answer',
  /** Shown when a click in the email has already selected a score. */
  chosen: 'Your score is chosen. Now send it.',
  scoreMissing: 'Please choose a score first.',
  commentTooLong: (most: number) => `Please shorten your comment to ${most} characters.`,
  tooManyAnswers:
    'Many answers are coming from your network right now. Please wait a minute and send yours again.',
  notSaved: 'Your answer could not be saved just now. Please send it again.',
  /** Labels of the honeypot field and link. */
  leaveEmpty: 'Please leave this field empty',
  doNotFollow: 'Please do not follow this link',

  thanks: {
    title: 'Thank you!',
    text: (organization: string) => `Your answer has reached ${organization}.`,
  },
  answered: {
    title: 'You have already answered',
    text: (organization: string, when: string) =>
      `This is your answer to ${organization} on ${when}.`,
  },
  yourScore: 'Your score',
  yourComment: 'Your comment',
  /** Follow-up questions, after the score. */
  questions: {
    send: 'Send',
    finish: 'Finish without answering',
    other: 'Other',
    several: 'Choose all that apply',
    missing: 'Please answer this question.',
    notSaved: 'Your answers could not be saved. Please check them and send them again.',
    /** Shown when a script has saved an answer. */
    saved: 'Saved',
  },
  closed: {
    title: 'This survey is closed',
    text: (organization: string) =>
      `${organization} is no longer collecting answers here. Thank you for wanting to give yours.`,
  },
  draft: {
    title: 'This survey is not open yet',
    text: (organization: string) =>
      `${organization} is still preparing it. Please come back a little later.`,
  },
  notFound: {
    title: 'There is no survey here',
    text: 'The link may be incomplete. Please open it again from your email.',
  },
  tooManyRequests: {
    title: 'One moment, please',
    text: 'Many requests are coming from your network right now. Please try again in a minute.',
  },
  tooLarge: {
    title: 'That was too much',
    text: 'Please go back, shorten what you wrote, and send it again.',
  },
  refused: {
    title: 'That did not work',
    text: 'Please go back to the page before and try again from there.',
  },
  unavailable: {
    title: 'We will be right back',
    text: 'This page cannot be shown just now. Please try again in a moment.',
  },
  broken: {
    title: 'Something went wrong here',
    text: 'It is not your fault. Please try again a little later.',
  },

  unsubscribe: {
    title: 'Unsubscribe?',
    text: (email: string, organization: string) =>
      `${email} will get no more surveys from ${organization}.`,
    action: 'Unsubscribe',
  },
  unsubscribed: {
    title: 'You are unsubscribed',
    text: (email: string, organization: string) =>
      `${email} gets no more surveys from ${organization}.`,
    undo: 'Undo',
  },
  resubscribed: {
    title: 'You are subscribed again',
    text: (email: string, organization: string) =>
      `${email} may get surveys from ${organization} again.`,
  },

  mail: {
    greeting: (name: string | null) => (name ? `Hello ${name},` : 'Hello,'),
    /** Shown in inboxes after the subject. */
    preview: 'One tap is enough to answer.',
    hint: 'Choose your answer. On the page that opens you can change it and add a comment.',
    openPage: 'Open the survey in your browser',
    whyCustomer: (organization: string) =>
      `You received this email because ${organization} would like your feedback.`,
    whyEmployee: (organization: string) =>
      `You received this email because ${organization} asks the people who work there.`,
    sentTo: (address: string) => `It was sent to ${address}.`,
  },

  /** Texts of new surveys that start from a template. */
  templates: (organization: string): Readonly<Record<TemplateSubject, TemplateTexts>> => ({
    nps: {
      question_text: `How likely are you to recommend ${organization} to a friend or colleague?`,
      subject: `Would you recommend ${organization}?`,
      follow_up: {
        promoter: 'What do you like most?',
        passive: 'What would make it a 10?',
        detractor: 'What should we do better?',
      },
      thanks: 'Thank you! Your answer helps us get better.',
      questions: [
        {
          text: 'What influenced your score the most?',
          options: ['Quality', 'Price', 'Service', 'Ease of use'],
        },
        { text: 'May we contact you about your answer?', options: ['Yes', 'No'] },
      ],
    },
    support: {
      question_text: 'How satisfied are you with the help you received?',
      subject: 'How was our support?',
      follow_up: 'What did we do well, and what could we do better?',
      thanks: 'Thank you! Your answer helps our support team get better.',
      questions: [
        { text: 'Is your problem solved?', options: ['Yes', 'Partly', 'No'] },
        {
          text: 'How satisfied are you with the time it took?',
          min_label: 'Not at all satisfied',
          max_label: 'Very satisfied',
        },
      ],
    },
    effort: {
      question_text: `How easy did ${organization} make it to get what you needed?`,
      subject: 'How easy did we make it for you?',
      follow_up: 'What made it easy or difficult?',
      thanks: 'Thank you! Your answer shows us what to simplify.',
      questions: [
        {
          text: 'What took the most effort?',
          options: [
            'Finding information',
            'Filling in forms',
            'Waiting for an answer',
            'Technical problems',
          ],
        },
      ],
    },
    delivery: {
      question_text: 'How was your delivery?',
      subject: 'Your delivery: how did it go?',
      follow_up: 'What went well, and what didn’t?',
      thanks: 'Thank you! Your answer helps us improve our deliveries.',
      questions: [
        {
          text: 'When did your order arrive?',
          options: ['Earlier than expected', 'On time', 'Late'],
        },
        { text: 'How was the packaging?', min_label: 'Poor', max_label: 'Excellent' },
      ],
    },
    website: {
      question_text: 'Was this page helpful?',
      subject: 'One question about our website',
      follow_up: 'What was missing or unclear?',
      thanks: 'Thank you! Your answer helps us improve our website.',
      questions: [
        {
          text: 'What brought you to this page?',
          options: [
            'Looking for information',
            'Comparing products',
            'Getting help',
            'Buying something',
          ],
        },
      ],
    },
    employees: {
      question_text: `How likely are you to recommend ${organization} as a place to work?`,
      subject: `Would you recommend ${organization} as a place to work?`,
      follow_up: 'What should we keep, and what should we change?',
      thanks: 'Thank you! Your answer helps us make this a better place to work.',
      questions: [
        {
          text: 'What should we improve first?',
          options: [
            'Pay and benefits',
            'Workload',
            'Leadership',
            'Career opportunities',
            'Teamwork',
          ],
        },
        {
          text: 'I get the support I need to do my job well.',
          min_label: 'Strongly disagree',
          max_label: 'Strongly agree',
        },
      ],
    },
  }),
};

export type Texts = typeof en;

type Labels = readonly string[];

export type TemplateSubject = 'nps' | 'support' | 'effort' | 'delivery' | 'website' | 'employees';

type TemplateTexts = {
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
