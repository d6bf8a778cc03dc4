/** Common English words that none of the languages below shares. */
const english = wordSet(`
  the and or but are were be been being you your yours they them their it its he she his this that these those my our
  ours not very for with have has having did does doing too at from more most just can cannot would could should us
  there then than because after before about which who whose what when where why how if only never always every each
  again both some any other another while until since into out through get got really nothing everything everyone
  please good bad thank thanks`);

/** Common English words that other languages share. */
const shared = wordSet('a an i is was in of on to will all we do as had me so am');

/** Common words of other languages. None of them is common in English. */
const foreign = wordSet(`
  der das und ist nicht ein eine einen einem einer sehr wir ich mit auf zu für aber dass wurde haben habe hatte bei vom
  zum zur von dem nach kein keine mein meine meinen unser unsere ihr ihre sie noch auch nur schon wenn dann weil leider
  danke bitte alles gut vielen
  le la les est et pas une des très nous je avec mais pour du dans sur mon mes nos vos votre notre merci avons suis bien
  trop ce cette vous
  el y es muy con pero los las del por como fue han hemos gracias más mi su
  il che non molto di sono gli della nel alla stato grazie anche ho una
  ma het een en niet voor zeer wij maar ik van op aan ook geen mijn dat zijn heeft bedankt
  og er ikke det jeg men är och inte na o que não muito um uma foi obrigado
  jest nie bardzo był była dziękuję się jestem`);

/** Counts words that indicate the language. Undefined for text that is mostly in another script. */
export function countLanguageWords(text: string) {
  const letters = text.match(/\p{L}/gu) ?? [];
  const latin = letters.filter((letter) => /\p{scx=Latin}/u.test(letter));
  if (latin.length * 2 < letters.length) return undefined;
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const count = (set: ReadonlySet<string>) => words.filter((word) => set.has(word)).length;
  return {
    words: words.length,
    english: count(english),
    shared: count(shared),
    foreign: count(foreign),
  };
}

function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
