/** What the screens of the tags say. */
export const tagTexts = {
  title: 'Tags',
  about: 'Tags sort responses by what you do with them. Everybody in the organization sees them.',
  none: 'No tag yet',
  noneMeans: 'A tag groups responses, such as those about billing, whatever their survey.',
  create: 'New tag',
  created: (name: string) => `The tag “${name}” is made.`,
  change: (name: string) => `Change the tag “${name}”`,
  saved: (name: string) => `The tag “${name}” is saved.`,
  deleteTitle: (name: string) => `Delete the tag “${name}”`,
  deleteMeans:
    'Every response that has it loses it, and filters by it find nothing any more. The responses themselves stay.',
  deleted: (name: string) => `The tag “${name}” is deleted.`,
  taken: 'There is a tag of this name already.',
} as const;
