import * as v from 'valibot';
import { described } from '../lib/paging/schemas.ts';
import { isMailable, normalizeEmail } from '../lib/smtp/address.ts';
import { longestName } from '../limits.ts';
import { surveyTypes } from '../scores.ts';
import { AskAfterDays, EmbedInput, RemindersInput, SendWindowInput } from './asking.schemas.ts';
import {
  LanguageTag,
  LineOfText,
  optionalTexts,
  QuestionText,
  TextsInput,
} from './text.schemas.ts';

const Address = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.check(isMailable, 'is not an email address'),
  v.metadata({ format: 'email' }),
  v.transform((text) => normalizeEmail(text) ?? text),
);

const Name = LineOfText(longestName);
const Type = v.picklist(surveyTypes, `must be one of ${surveyTypes.join(', ')}`);
const Audience = described(
  v.nullable(v.literal('employee', 'must be employee or null')),
  'employee for an nps survey that asks employees',
);
const Status = v.picklist(['draft', 'active'], 'must be draft or active');

/** What is left out stays as it is, or as it is from the start. */
const whatever = {
  audience: v.optional(Audience),
  ...optionalTexts,
  texts: v.optional(TextsInput),
  reminders: v.optional(RemindersInput),
  ask_after_days: v.optional(AskAfterDays),
  send_window: v.optional(v.nullable(SendWindowInput)),
  embed: v.optional(EmbedInput),
};

export const NewSurveyInput = v.object({
  name: Name,
  question_text: QuestionText,
  from_name: Name,
  from_email: described(Address, 'sender address of its mails'),
  reply_to: described(v.nullish(Address), 'where replies go; from_email when it is not given'),
  type: v.optional(Type, 'nps'),
  language: described(v.optional(LanguageTag, 'en'), 'of its own texts, as a BCP 47 tag'),
  status: described(v.optional(Status, 'active'), 'a draft is not sent and takes no answers'),
  ...whatever,
});

export const SurveyChangeInput = v.object({
  name: v.optional(Name),
  question_text: v.optional(QuestionText),
  from_name: v.optional(Name),
  from_email: v.optional(Address),
  reply_to: v.optional(Address),
  type: described(v.optional(Type), 'only while there are no answers'),
  language: v.optional(LanguageTag),
  status: described(v.optional(Status), 'draft only while nothing was sent or answered'),
  ...whatever,
});

export type NewSurveyWish = v.InferOutput<typeof NewSurveyInput>;
export type SurveyChange = v.InferOutput<typeof SurveyChangeInput>;
