export const mostDays = 36_500;
/** Visits of links and blocked mails are kept no longer than this in any organization. */
export const mostDaysOfLogs = 90;

/** What an organization can keep for some days only, with the settings that say so. 0 keeps it without an end. */
export const retentions = [
  {
    setting: 'keep_comments_days',
    label: 'Days to keep comments',
    help: 'Then comments are deleted with their analyses, notes and excerpts; scores stay. Empty for no such rule.',
    most: mostDays,
  },
  {
    setting: 'keep_contacts_days',
    label: 'Days to keep inactive contacts',
    help: 'A contact without a mail, a visit, an answer or a change for so long is deleted; its scores stay, anonymous. Empty for no such rule.',
    most: mostDays,
  },
  {
    setting: 'keep_openings_days',
    label: 'Days to keep openings',
    help: `Visits of links. ${mostDaysOfLogs} days at most, which is also what an empty field means.`,
    most: mostDaysOfLogs,
  },
  {
    setting: 'keep_mails_days',
    label: 'Days to keep the mail log',
    help: 'What was mailed to which address, and results of campaigns. Never shorter than Frequency days, or than a reminder needs (61). Empty for no such rule.',
    most: mostDays,
  },
] as const;
