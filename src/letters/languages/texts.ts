import type { SurveyType } from '../../scores.ts';
import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';

/** What a survey mail says beside the survey's own words. */
export type MailTexts = {
  language: string;
  direction: 'ltr' | 'rtl';
  greeting: (name: string | null) => string;
  /** Shown by mail programs beside the subject. */
  preview: string;
  /** What the ends of each scale mean. */
  ends: Record<SurveyType, { lowest: string; highest: string }>;
  hint: string;
  openPage: string;
  whyCustomer: (organization: string) => string;
  whyEmployee: (organization: string) => string;
  sentTo: (address: string) => string;
  unsubscribe: string;
};

const all = [en, de, ar];

/** The texts of a language, also for a regional form of it; English where there are none. */
export function mailTexts(language: string): MailTexts {
  const base = language.toLowerCase().split(/[-_]/)[0];
  return all.find((texts) => texts.language === base) ?? en;
}
