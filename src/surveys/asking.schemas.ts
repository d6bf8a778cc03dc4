import * as v from 'valibot';
import { described } from '../lib/paging/schemas.ts';
import { isTimeZoneName } from '../lib/validation/time-zone.ts';
import { SubjectText } from './text.schemas.ts';

// When a survey asks by itself, and where it may be shown.

const mostReminders = 3;
const mostOrigins = 20;
const week = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

const Whole = (lowest: number, highest: number) => {
  const message = `must be a whole number from ${lowest} to ${highest}`;
  return v.pipe(
    v.number(message),
    v.integer(message),
    v.minValue(lowest, message),
    v.maxValue(highest, message),
  );
};

export type Reminder = { after_days: number; subject?: string };

export const RemindersInput = described(
  v.pipe(
    v.array(
      v.object({ after_days: Whole(1, 60), subject: v.optional(v.nullable(SubjectText)) }),
      'must be a list',
    ),
    v.maxLength(mostReminders, `must be at most ${mostReminders}`),
    v.check(
      (reminders) => new Set(reminders.map((each) => each.after_days)).size === reminders.length,
      'must be after different numbers of days',
    ),
    v.transform((reminders): Reminder[] =>
      reminders
        .map(({ after_days, subject }) => (subject ? { after_days, subject } : { after_days }))
        .sort((one, other) => one.after_days - other.after_days),
    ),
  ),
  'mails to contacts that were mailed and have not answered, so many days after the first mail',
);

export const AskAfterDays = described(
  v.nullable(Whole(0, 365)),
  'mails each contact by itself so many days after it was added; null: only when asked to',
);

export type SendWindow = {
  days: (typeof week)[number][];
  from: string;
  to: string;
  time_zone: string;
};

const TimeOfDay = v.pipe(
  v.string('must be a time such as 09:00'),
  v.regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 09:00'),
);

export const SendWindowInput = described(
  v.pipe(
    v.object(
      {
        days: v.pipe(
          v.array(v.picklist(week, `must be among ${week.join(', ')}`), 'must be a list of days'),
          v.minLength(1, 'must name at least one day'),
          v.transform((days) => week.filter((day) => days.includes(day))),
        ),
        from: TimeOfDay,
        to: TimeOfDay,
        time_zone: v.pipe(
          v.string('must be text'),
          v.check(isTimeZoneName, 'must be a time zone such as Europe/Berlin'),
        ),
      },
      'must be an object',
    ),
    v.check(({ from, to }) => from < to, 'must begin before it ends'),
  ),
  'when campaigns, reminders and mails by itself may go out; null: at any time',
);

export type Embedding = {
  origins: string[];
  position: 'inline' | 'corner';
  delay_seconds: number;
  every_days: number;
};

const defaults = { position: 'corner', delay_seconds: 5, every_days: 30 } as const;

/** How a survey is embedded, whatever of it has been decided. */
export const embeddingOf = (embed: Partial<Embedding>): Embedding => ({
  origins: [],
  ...defaults,
  ...embed,
});

const Origin = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.check(isOrigin, 'must be an origin such as https://www.example.com, without a path'),
  v.transform((origin) => new URL(origin).origin),
);

export const EmbedInput = described(
  v.object(
    {
      origins: v.pipe(
        v.array(Origin, 'must be a list of origins'),
        v.maxLength(mostOrigins, `must be at most ${mostOrigins}`),
        v.transform((origins) => [...new Set(origins)]),
      ),
      position: v.optional(
        v.picklist(['inline', 'corner'], 'must be inline or corner'),
        defaults.position,
      ),
      delay_seconds: described(
        v.optional(Whole(0, 600), defaults.delay_seconds),
        'how long a visitor is on the page before the corner shows it',
      ),
      every_days: described(
        v.optional(Whole(0, 365), defaults.every_days),
        'after how many days the corner shows it to the same visitor again; 0: at each visit',
      ),
    },
    'must be an object',
  ),
  'the websites that may show it in a frame, and how',
);

/** What cannot end the directive of a policy that names it, nor mean every host. */
const plainHost = /^(\[[0-9a-f:]+\]|[a-z0-9.-]+)$/;

/** Plain http only on this machine. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.origin !== text.replace(/\/$/, '').toLowerCase()) return false;
  if (!plainHost.test(url.hostname)) return false;
  const here = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && here);
}
