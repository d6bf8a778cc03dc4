import { excerptBy, type PeopleToRedact, withoutKnown } from './known.ts';
import { joined } from './words.ts';

/** `redactedExcerpt` at once and without the recognizer of names: every word that could be a name is replaced. */
export const doubtfulExcerpt = (comment: string, known: PeopleToRedact): Promise<string> =>
  excerptBy(async (part) => joined(withoutDoubtful(part)), comment, known);

/** `redact` at once and without the recognizer of names: every word that could be a name is replaced. */
export const redactDoubtful = (comment: string, known: PeopleToRedact): string =>
  joined(withoutDoubtful(withoutKnown(comment, known)));

/**
 * Replaces every word that could be a name: all but the most common English words, of which none is a
 * name. For a comment that cannot be read in time, in any language.
 */
export const withoutDoubtful = (text: string) =>
  text.replace(/[\p{L}\p{M}](?:[\p{L}\p{M}'’\u200c-]|\u200d)*/gu, (word) =>
    common.has(word.toLowerCase().replaceAll('’', "'")) ? word : '[name]',
  );

const common: ReadonlySet<string> = new Set(
  `email phone name a an the and or but if so as at by for from in into of off on onto out over to up with without
  about after again against all also always another any are aren't be because been before being below between both
  can can't cannot could couldn't did didn't do does doesn't doing don't done down during each either else enough
  even ever every everything few first get gets getting give given go goes going gone good great had hadn't has
  hasn't have haven't having he he's her here hers him his how i i'd i'll i'm i've is isn't it it's its just last
  late later least less let like little long lot made make makes making many me mean mine more most much must my
  need needed needs neither never new next no nobody none nor not nothing now often old once one only other others
  our ours own please put quite rather really right said same say says see seem seems seen she should shouldn't
  since slow some something soon still such sure take takes than thank thanks that that's their theirs them then
  there there's these they they're thing things think this those though through time times too took two under until
  us use used using very wait waited waiting want wanted wants was wasn't we we'll we're we've well went were weren't
  what when where whether which while who whole whose why wouldn't would yes yet you you're your yours
  account answer answered app awful bad best better broken bug bugs buy cancel cancelled call called calls
  cheap clear confusing cost crash crashes customer day days delay delayed delivery difficult easy error errors
  expensive excellent fast feature features feedback fine fix fixed friendly happy hard hate help helped helpful
  hour hours invoice issue issues kind login message minutes missing money month months nice okay order ordered
  paid pay payment people perfect poor price pricing problem problems product products quality quick quickly
  received refund reply report reports sad satisfied service shipping sick simple staff stop stopped super support
  team terrible today tried try twice unhappy update useful useless wasted week weeks work worked working works
  worse worst wrong year years yesterday`.split(/\s+/),
);
