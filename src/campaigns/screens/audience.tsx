import { isUuid } from '../../lib/validation/parse.ts';
import type { Audience } from '../../people/audience.ts';
import type { Segment } from '../../people/segments.ts';

type Stored = 'people' | { segment_id: string } | { filter: object };

/** Returns the value of the audience select: empty for contacts, `people`, `filter`, or the id of a segment. */
export function choiceOf(audience: Stored | null | undefined): string {
  if (!audience || audience === 'people') return audience ?? '';
  return 'filter' in audience ? 'filter' : audience.segment_id;
}

export function audienceOf(choice: string): Audience | null {
  if (choice === 'people') return choice;
  return isUuid(choice) ? { segment_id: choice } : null;
}

/** The filter of a choice, or null for contacts. `isKnown` is false if the segment was deleted. */
export function filterOf(choice: string, segments: readonly Segment[]) {
  const segment = segments.find(({ id }) => id === choice);
  const filter = choice === 'people' ? { all: [] } : (segment?.filter ?? null);
  return { filter, segment, isKnown: choice === '' || filter !== null };
}

export const pendingContacts = 'Pending contacts';
export const segmentDeleted = 'This segment was deleted. Choose another audience.';

/** Keeps a selected segment as an option after its deletion, so that a form never falls back to another audience. */
export function audienceOptions(
  contacts: string,
  segments: readonly Segment[],
  selected: readonly string[],
) {
  const listed = [
    { value: '', text: contacts },
    { value: 'people', text: 'Everyone in People' },
    ...segments.map(({ id, name }) => ({ value: id, text: `Segment: ${name}` })),
  ];
  const others = selected.filter((choice) => listed.every(({ value }) => value !== choice));
  return [
    ...listed,
    ...[...new Set(others)].map((value) => ({
      value,
      text: value === 'filter' ? 'Filter set through the API' : 'A deleted segment',
    })),
  ];
}

export function audienceText(audience: Stored, segments: readonly Segment[]): string {
  const choice = choiceOf(audience);
  const options = audienceOptions(pendingContacts, segments, [choice]);
  return options.find(({ value }) => value === choice)!.text;
}
