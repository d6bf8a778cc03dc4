const english = words(
  'the a an and or but is are was were be been i you we they it this that my your our their not very to of in on for with have has had do does did too as at from more just can will would could all us good bad thanks',
);

/** Small words of languages that people answer in too. None of them is common in English. */
const foreign = words(
  'der das und ist nicht ein eine sehr wir ich mit auf zu für aber le la les est et pas une des très nous je avec mais pour el y es muy con pero una il che non molto di sono con ma het een en niet voor zeer wij maar og er ikke det jeg men är och inte jag jest nie bardzo na o que não muito um uma',
);

const fewWords = 4;

/**
 * Whether a text may be read as English: few words say little about their language and pass, more of
 * them must hold some that only English has, and not more of another language.
 */
export function isEnglish(text: string): boolean {
  const letters = text.match(/\p{L}/gu) ?? [];
  const latin = letters.filter((letter) => /\p{scx=Latin}/u.test(letter));
  if (latin.length * 2 < letters.length || latin.length === 0) return false;
  const said = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const ours = said.filter((word) => english.has(word)).length;
  const theirs = said.filter((word) => foreign.has(word)).length;
  if (theirs > ours) return false;
  return ours > 0 || said.length <= fewWords;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}
