import { countLanguageWords } from './english.ts';

/** The beginning of a comment with addresses, phone numbers and names replaced. */
export const redactedExcerpt = (comment: string, known: PeopleToRedact): Promise<string> =>
  excerptBy(nameRemover(comment, known), comment, known);

export const redact = (comment: string, known: PeopleToRedact): Promise<string> =>
  nameRemover(comment, known)(removeKnownPeople(comment, known));

/** In other languages, the recognizer would take ordinary words for names. */
const nameRemover = (comment: string, known: PeopleToRedact): NameRemover =>
  isEnglish(comment, known) ? withoutEnglishNames : withoutAddressedNames;

/** Decides by the words of the comment, then by the language of the page. */
function isEnglish(comment: string, { language = 'en' }: PeopleToRedact): boolean {
  const count = countLanguageWords(comment.slice(0, excerptWindow));
  if (!count || count.english === count.foreign) return !!count && /^en\b/i.test(language);
  return count.english > count.foreign;
}

const nameWord = String.raw`(?:\[name\]|\p{Lu}[\p{L}\p{M}'’-]*)`;
const nobility = '(?:(?:von|van|de|del|della|di|da|dos|du|la|le|der|den|zu|el|ten|ter|al)\\s){0,2}';
const fullName = String.raw`${nameWord}(?:\s{1,2}${nobility}${nameWord}){0,2}`;

const addressing = [
  'herrn?|frau|fräulein|familie|hr\\.|fr\\.',
  'monsieur|madame|mademoiselle|mme|mlle|m\\.|docteur',
  'señora?|señorita|sra?\\.|srta\\.|don|doña',
  'signor[ae]?|signorina|sig\\.(?:ra)?|dottor(?:e|essa)?',
  'heer|meneer|mijnheer|mevrouw|dhr\\.|mevr\\.|mw\\.',
  'senhora?|dona|doutora?|pan|pani|pana|panem|panią|panu',
  'mrs?\\.?|ms\\.?|miss|dr\\.?|prof\\.?',
].join('|');
const titles = String.raw`(?:(?:Dr|Prof|Dipl|Ing|Mag|Lic|Dott)\.\s?)*`;

const addressed = new RegExp(
  String.raw`(?<![\p{L}\p{M}])((?i:${addressing})\s{1,2})${titles}${nobility}${fullName}`,
  'gu',
);

const introduction = [
  'ich bin|ich hei(?:ß|ss)e|mein name ist',
  "je suis|je m['’]appelle|mon nom est",
  'soy|me llamo|mi nombre es',
  'sono|mi chiamo|il mio nome è',
  'ik ben|ik heet|mijn naam is',
  'sou|me chamo|chamo-me|meu nome é|jestem|nazywam się|mam na imię',
].join('|');

/** Capitalized words after "ich bin" that are not names. */
const germanNouns =
  'Ihnen|Ihre?|Sie|Teil|(?:Stamm|Neu)?[Kk]und(?:e|in)|(?:Rentner|Student|Lehrer|Nutzer|Mieter|Besitzer|Anfänger|Patient|Abonnent|Allergiker)(?:in)?|Mitglied|Mutter|Vater|Fan|Opfer|Laie|Profi|Gast';

const introduced = new RegExp(
  String.raw`(?<![\p{L}\p{M}])((?i:${introduction})\s{1,2})(?!(?:${germanNouns})(?![\p{L}\p{M}]))${fullName}`,
  'gu',
);

const closing =
  'gr(?:ü|ue)(?:ß|ss)en?|gru(?:ß|ss)|lg|mfg|cordialement|saludos(?: cordiales)?|cordiali saluti|groet(?:en)?|atenciosamente|pozdrawiam';

const signed = new RegExp(
  String.raw`(?<![\p{L}\p{M}])((?i:${closing})[\s,]{1,3})${fullName}(?=[ .!]*$)`,
  'gmu',
);

/** Replaces only names after a form of address, an introduction or a closing. */
const withoutAddressedNames: NameRemover = async (text) =>
  joined(
    [addressed, introduced, signed].reduce((rest, each) => rest.replace(each, '$1[name]'), text),
  );

/** The recognizer's time grows with the cube of the length, so it gets comments in pieces. */
const pieceLength = 300;

/** After this CPU time for one comment, every further word is replaced. */
const budgetMs = 1_000;

/** Replaces anything that looks like a name. */
async function withoutEnglishNames(text: string): Promise<string> {
  const nlp = await loadRecognizer();
  const end = cpuMs() + budgetMs;
  const names = new Set<string>();
  const pieces = piecesOf(text).map((piece) => {
    if (cpuMs() > end) return withoutWords(piece);
    for (const name of namesIn(nlp, piece)) names.add(name);
    return piece;
  });
  const replaced = replaceWords(pieces.join(''), [...names], '[name]');
  return joined(replaced.replace(capitalNextToName, '[name]'));
}

/** Removes the recognizer's last step, which finds phrases that we do not need. */
async function loadRecognizer() {
  const { default: nlp } = await import('compromise');
  const steps = nlp.hooks();
  if (steps.includes('chunks')) steps.splice(steps.indexOf('chunks'), 1);
  return nlp;
}

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Splits at white space if possible. */
const piecesOf = (text: string) =>
  text.match(new RegExp(`[^]{1,${pieceLength}}(?!\\S)|[^]{1,${pieceLength}}`, 'gu')) ?? [];

function namesIn(nlp: (text: string) => Nlp, piece: string): string[] {
  const doc = nlp(piece.replace(/\[(?:email|phone|name)\]/g, ','));
  // The search for phrases is slow, so skip text without these tags. Every name has a word with one of them.
  if (!doc.termList().some(({ tags }) => tags?.has('Person') || tags?.has('ProperNoun'))) return [];
  const people = doc.people().terms().out('array') as string[];
  const proper = doc.match('#ProperNoun').not('(#Place|#Organization|#Date|#Acronym)');
  return [...people, ...(proper.out('array') as string[])]
    .flatMap(wordsOf)
    .filter((word) => !productNames.has(word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')));
}

type Nlp = ReturnType<typeof import('compromise').default>;

/** A capitalized word next to a name is part of it. */
const capitalNextToName = /\b\p{Lu}[\p{L}'’-]+ \[name\]|\[name\] \p{Lu}[\p{L}'’-]+/gu;

/** `redactedExcerpt` without the recognizer: replaces every English word. */
export const doubtfulExcerpt = (comment: string, known: PeopleToRedact): Promise<string> =>
  excerptBy(doubtfulRemover(comment, known), comment, known);

/** `redact` without the recognizer: replaces every English word. */
export const redactDoubtful = (comment: string, known: PeopleToRedact): Promise<string> =>
  doubtfulRemover(comment, known)(removeKnownPeople(comment, known));

const doubtfulRemover = (comment: string, known: PeopleToRedact): NameRemover =>
  isEnglish(comment, known) ? async (text) => joined(withoutWords(text)) : withoutAddressedNames;

const withoutWords = (text: string) =>
  text.replace(
    /(\[(?:email|phone|name)\])|[\p{L}\p{M}][\p{L}\p{M}'’-]*/gu,
    (_, placeholder) => placeholder ?? '[name]',
  );

/** People who may be mentioned in a comment: the contact, the sender, the organization. */
export type PeopleToRedact = {
  names: readonly string[];
  emails: readonly string[];
  language?: string;
};

const excerptLength = 100;

/** Excerpts read no further. The margins are longer than any name or address that the edge could cut. */
const excerptWindow = 2_000;
const excerptMargin = 320;
const namesWindow = 400;
const namesMargin = 80;

type NameRemover = (text: string) => Promise<string>;

async function excerptBy(removeNames: NameRemover, comment: string, known: PeopleToRedact) {
  const start = comment.slice(0, excerptWindow);
  let text = removeKnownPeople(start, known);
  if (start.length < comment.length) text = cut(text, text.length - excerptMargin);

  const part = cut(text, namesWindow);
  let redacted = await removeNames(part);
  if (part.length < text.length) redacted = cut(redacted, redacted.length - namesMargin);
  return cut(redacted, excerptLength);
}

/** Cuts without splitting a placeholder or a character. */
export function cut(text: string, length: number): string {
  const characters = Array.from(text);
  if (characters.length <= length) return text;
  const start = characters.slice(0, Math.max(0, length)).join('');
  const half = /\[(?:e(?:m(?:a(?:il?)?)?)?|p(?:h(?:o(?:ne?)?)?)?|n(?:a(?:me?)?)?)?$/.exec(start);
  return half ? start.slice(0, half.index) : start;
}

/** Replaces the known people, all email addresses and all phone numbers. */
export function removeKnownPeople(text: string, { names, emails }: PeopleToRedact): string {
  const withoutEmails = replaceWords(visible(text), emails, '[email]').replace(address, '[email]');
  return joined(withoutPhones(replaceWords(withoutEmails, names.flatMap(wordsOf), '[name]')));
}

/** Anything around an at sign, even a spelled-out one. The look-behind keeps long words fast. */
const local = String.raw`[^\s@＠<>()[\],;:"“”«»\\]`;
const address = new RegExp(
  String.raw`(?<!${local})(?:${local}+\s?[@＠]\s?|${local}+\s?[([{]\s?at\s?[)\]}]\s?)${local}*[\p{L}\p{N}](?:\s?[([{]\s?dot\s?[)\]}]\s?[\p{L}\p{N}-]+)*`,
  'giu',
);

/** Seven or more digits of any script, with only phone number punctuation between them. */
const candidate = /[+＋(]{0,2}\p{Nd}(?:[\s().\-‐-―/·]{0,3}\p{Nd}){6,}/gu;

/** Every long run of digits counts as a phone number, unless it is a date, an IP address or a version. */
function withoutPhones(text: string): string {
  return text.replace(candidate, (run, at: number) => {
    const before = text.slice(Math.max(0, at - 12), at);
    const isHarmless = isDates(run) || isIp(run) || (isDotted(run) && version.test(before));
    return isHarmless ? run : '[phone]';
  });
}

const month = '(?:0?[1-9]|1[0-2])';
const day = '(?:0?[1-9]|[12][0-9]|3[01])';
const year = '(?:19|20)[0-9]{2}';
const date = [
  `${year}-${month}-${day}`,
  `${year}/${month}/${day}`,
  `${day}\\.${month}\\.${year}`,
  `${day}/${month}/${year}`,
  `${month}/${day}/${year}`,
  `${day}-${month}-${year}`,
].join('|');
const dates = new RegExp(`^(?:${date})(?:\\s?[-–]\\s?(?:${date}))?$`);

const isDates = (run: string) => dates.test(run);

/** IPv4, but not four pairs of digits, which some countries use for phone numbers. */
function isIp(run: string): boolean {
  const groups = run.split('.');
  const bytes = groups.every((group) => /^[0-9]{1,3}$/.test(group) && Number(group) <= 255);
  return groups.length === 4 && bytes && groups.some((group) => group.length !== 2);
}

const isDotted = (run: string) => /^[0-9]+(?:\.[0-9]+){2,}$/.test(run);
const version = /(?:\bv|version|release|build|firmware)[\s:]*$/i;

/** Scripts in which joining characters are meaningful, as they are in emoji. */
const joiningScripts = String.raw`\p{scx=Arab}\p{scx=Syrc}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}`;
const emoji = String.raw`\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f`;

/** Invisible characters that would hide a word from the patterns. */
const invisible = new RegExp(
  String.raw`[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|(?:(?<![${joiningScripts}${emoji}])|(?<=\p{Nd}))[\u200c\u200d]+`,
  'gu',
);

const visible = (text: string) => text.normalize('NFC').replace(invisible, '');

const plain = (text: string) => visible(text).trim();

/** The words of two or more letters in a name, and the whole name. */
function wordsOf(name: string): string[] {
  const words = plain(name).match(/[\p{L}\p{M}]{2,}/gu) ?? [];
  return [...plain(name).split(/\s+/), ...words].filter((word) => /\p{L}[\p{L}\p{M}]/u.test(word));
}

/** Replaces whole words, ignoring case. */
function replaceWords(text: string, words: readonly string[], placeholder: string): string {
  const spellings = new Set(
    words.map(plain).flatMap((word) => [word, word.toUpperCase(), word.toLowerCase()]),
  );
  const longestFirst = [...spellings]
    .filter((word) => word !== '')
    .sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return text;
  // The letter classes take half a millisecond to compile, so first check whether any word is there at all.
  if (!new RegExp(longestFirst.map(pattern).join('|'), 'iu').test(text)) return text;
  return text.replace(wholeWords(longestFirst), placeholder);
}

/** Matches whole words, if the script separates words. */
function wholeWords(words: readonly string[]): RegExp {
  const apart = words.filter((word) => !unspaced.test(word)).map(pattern);
  const whole = String.raw`(?<![\p{L}\p{M}])(?:${apart.join('|')})(?![\p{L}\p{M}])`;
  const patterns = words.filter((word) => unspaced.test(word)).map(pattern);
  return new RegExp([...patterns, ...(apart.length > 0 ? [whole] : [])].join('|'), 'giu');
}

const unspaced = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}]/u;
const mayBeJoined = new RegExp(`[${joiningScripts}]`, 'u');

/** Escapes a word. Joining characters are optional. */
function pattern(word: string): string {
  if (!mayBeJoined.test(word)) return escaped(word);
  const characters = [...word.replace(/[\u200c\u200d]/g, '')].map(escaped);
  return characters.join(String.raw`[\u200c\u200d]*`);
}

const escaped = (word: string) =>
  word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/\s+/g, String.raw`\s+`);

/** Merges first and last names. */
const joined = (text: string) => text.replace(/\[name\](?:[\s.-]{1,2}\[name\])+/g, '[name]');

/** Products that comments mention. None of them is also a personal name. */
const productNames: ReadonlySet<string> = new Set(
  `acrobat adobe airbnb amazon android apache asana asus atlassian azure bing bitbucket bluetooth chatgpt chrome
  confluence copilot docker docusign dropbox ebay edge ethernet evernote excel expedia facebook fedex figma firefox
  gemini github gitlab gmail google hubspot icloud ikea imap instagram intercom ipad iphone java javascript jira
  kindle kubernetes lenovo linkedin linux macbook macos mailchimp mastercard microsoft miro monday netflix netsuite
  notion office okta onedrive oracle outlook paypal pinterest playstation postgres powerpoint python quickbooks
  reddit salesforce samsung sap sharepoint shopify skype slack snapchat snowflake spotify sql stripe tableau teams
  telegram tiktok trello trustpilot twitter uber ubuntu ups usps vimeo visa vodafone webex whatsapp wifi wikipedia
  windows wordpress xbox xero yahoo yelp youtube zapier zendesk zoom`.split(/\s+/),
);
