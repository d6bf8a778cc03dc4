import type { MailTexts } from './texts.ts';

export const en: MailTexts = {
  language: 'en',
  direction: 'ltr',
  greeting: (name) => (name ? `Hello ${name},` : 'Hello,'),
  preview: 'One tap is enough to answer.',
  ends: {
    nps: { lowest: 'not at all likely', highest: 'extremely likely' },
    csat: { lowest: 'very dissatisfied', highest: 'very satisfied' },
    ces: { lowest: 'strongly disagree', highest: 'strongly agree' },
    star5: { lowest: 'poor', highest: 'excellent' },
    thumbs: { lowest: 'No', highest: 'Yes' },
  },
  hint: 'Choose your answer. On the page that opens you can change it and add a comment.',
  openPage: 'Open the survey in your browser',
  whyCustomer: (organization) =>
    `You get this mail because ${organization} would like to know how it did.`,
  whyEmployee: (organization) =>
    `You get this mail because ${organization} asks the people who work there.`,
  sentTo: (address) => `It was sent to ${address}.`,
  unsubscribe: 'Unsubscribe',
};
