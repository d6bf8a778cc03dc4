/** What the settings of an organization say. */
export const generalTexts = {
  title: 'General',
  about: 'Contacts see the name, the color and the logo on pages and mails.',
  readOnly: 'Only owners of the organization change these.',
  saved: 'The settings are saved.',
  slug: 'Its name in the addresses of this app. The old one leads to the new one.',
  color: 'For pages and mails; it is darkened or lightened where text would be hard to read.',
  logo: 'PNG, JPEG or WebP, at most 256 KiB and 2,000 pixels wide and high.',
  removeLogo: 'Remove the logo',
  logoOf: (name: string) => `Logo of ${name}`,
  contactEmail: 'Notices about webhooks and reports go there.',
  postalAddress: 'At the foot of every mail. Many countries ask for it.',
  language: 'What new surveys begin with; each survey can have another one.',
  timeZone: 'The days and months of reports, such as Europe/Berlin.',
  frequency: 'For so many days an address gets at most one survey. Empty for no such rule.',
  people: 'One a line. They are removed from comments before anything else reads them.',
  analysis: 'Analyze comments',
  analysisMeans: 'Finds themes and sentiment, and writes a summary each month.',
  slugTaken: 'Another organization has this slug, or had it before.',
  on: 'on',
  off: 'off',
  none: 'none',
} as const;

export const textsTexts = {
  title: 'Texts',
  about:
    'What every mail and every new survey of the organization begins with. A survey can have its own words.',
  foot: 'Your own words under every mail, such as how you came by the address.',
  saved: 'The texts are saved.',
} as const;

export const usageTexts = {
  title: 'Usage',
  retention: 'Deleted last, because it was older than the organization keeps',
  mails: 'Mails this month',
  of: (limit: string) => `of ${limit}`,
  left: (left: string, month: string) =>
    `${left} can still go out in ${month}. The count starts again on the first day of the next month, UTC.`,
  spent:
    'No more mails go out this month: a send that does not fit is refused whole. The operator of this server can raise the limit.',
  near: 'More than four fifths of the month’s mails are used.',
  responses: 'Responses',
  contacts: 'Contacts',
  surveys: 'Surveys',
} as const;

export const auditTexts = {
  title: 'Audit',
  about: 'What was changed, when and by which actor. Kept for 400 days.',
  dayBefore: 'This day is before the first one.',
  none: 'Nothing was changed yet',
  noneMeans:
    'Each change by a member, a key, the command line or the service itself is listed here.',
  noMatch: 'No act matches',
  noMatchMeans: 'Choose other days, another actor or another act.',
  actors: {
    member: 'Member',
    key: 'API key',
    command: 'Command line',
    job: 'Service',
    visitor: 'Visitor',
  },
} as const;
