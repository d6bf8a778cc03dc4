/** What the screens of responses say. */
export const responseTexts = {
  none: 'No responses yet',
  noneMeans: 'What people answer stands here, newest first. Send a survey, or share its link.',
  noneFound: 'No response matches these filters',
  noneFoundMeans: 'Take one away, or look in a longer time.',
  showAll: 'Show all responses',
  anonymous: 'Anonymous',
  noComment: 'No comment',
  heldList: 'These count nowhere until they are released.',
  tagged: (many: string) => `The tag is on ${many}.`,
  untagged: (many: string) => `The tag is taken from ${many}.`,
  followed: {
    done: (many: string) => `${many} marked as done.`,
    open: (many: string) => `${many} opened again.`,
    take: (many: string) => `You own ${many} now.`,
  },
  responseOf: (person: string) => `Response of ${person}`,
  pane: 'The chosen response',
  chooseOne: 'Choose a response to read it here.',
  keys: 'In the list, the keys j and k lead down and up, Enter goes to the response, and Escape back.',
  toList: 'Back to the list',
  noDay: 'Enter a day, such as 2026-04-01.',
  dayBefore: 'This day is before the first one.',
  chooseAll: (many: number) => (many === 1 ? 'Choose it' : `Choose all ${many} on this page`),
  noneChosen: 'No response was chosen. Tick some, then press the button again.',
  noTagChosen: 'No tag was chosen.',
  saved: 'The response is saved.',
  ownerChanged:
    'Nothing was saved: another member changed the owner of this response since you opened it. The page shows the owner of now.',
  noted: 'The note is saved.',
  noOwner: 'No owner',
  notFollowedUp: 'Not followed up',
  released: 'The response is released: it counts now, and its events are delivered.',
  notHeld: 'This response is not held any more: it was released already.',
  releasedMany: (many: string, one: boolean) =>
    one
      ? `${many} released: it counts now, and its events are delivered.`
      : `${many} released: they count now, and their events are delivered.`,
  noneHeld: 'None of the chosen responses is held.',
  deleted: 'The response is deleted.',
  notReadYet: 'Its comment has not been read yet.',
  analysisOff: 'Analysis is off for this organization. An owner can switch it on in the settings.',
  nothingToRead: 'There is no comment to read.',
  builtIn: 'Read by the built-in analyst, which can be wrong.',
  readBy: (provider: string) => `Read by ${provider}, which can be wrong.`,
  held: 'This response is held',
  heldOne: 'It counts nowhere until it is released.',
  deleteTitle: 'Delete this response',
  deleteOf: (person: string) => `Delete the response of ${person}`,
  deleteMeans:
    'It counts nowhere any more: scores and trends change. Its notes, tags and analysis are lost with it. The person is not asked again.',
  deleteStays: 'What was delivered to webhooks stays there.',
} as const;

/** Why a response is on hold, by the reason that is stored. */
const heldReasons: Readonly<Record<string, string>> = {
  hidden_field: 'A field that people do not see was filled in.',
  hidden_link: 'A link that people do not see was opened shortly before.',
  scores_opened: 'Links with different scores were opened within 10 seconds before it.',
  scores_posted: 'Another score was given by the same link within 2 seconds before it.',
};

export const heldReason = (reason: string) =>
  heldReasons[reason] ?? 'A machine seems to have given it.';
