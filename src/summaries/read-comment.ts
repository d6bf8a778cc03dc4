import type { Remark } from './analyst.ts';
import { isEnglish } from './english.ts';
import {
  type Analysis,
  churnRiskOf,
  hasReservation,
  longestSummary,
  scoreAlone,
  sentimentOf,
  speaksOfLeaving,
  tidyText,
  tidyThemes,
  toneOf,
} from './rules.ts';
import { themesOf } from './themes.ts';

/** More than this of a comment says no more about it, and costs time. */
const readCharacters = 2000;

/** The tokenizer's time grows with the cube of a word. */
const longestWord = /\S{60}/g;

/** What can be read out of an English comment; of one in another language, the score alone. */
export async function readComment(remark: Remark): Promise<Analysis> {
  loading ??= loadReader().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return read(remark, await loading);
}

/** Loading costs half a second and 50 MB: a thread of which nothing is to be analyzed does not. */
let loading: ReturnType<typeof loadReader> | undefined;

type Reader = (text: string) => { sentences: number[]; phrases: string[]; english: boolean };

/** A department by that name is no praise, which the word is to the model. */
const support = /\bsupport\b/gi;

async function loadReader(): Promise<Reader> {
  const [{ default: winkNLP }, { default: model }] = await Promise.all([
    import('wink-nlp'),
    import('wink-eng-lite-web-model'),
  ]);
  const nlp = winkNLP(model, ['sbd', 'negation', 'sentiment', 'pos']);
  const { its } = nlp;
  const felt = (text: string) => nlp.readDoc(text.replace(support, 'service'));
  return (text) => {
    const doc = nlp.readDoc(text);
    const tokens = doc.tokens();
    return {
      sentences: felt(text).sentences().out(its.sentiment) as unknown as number[],
      phrases: nounPhrases(tokens.out(its.value) as string[], tokens.out(its.pos) as string[]),
      english: isEnglish(text),
    };
  };
}

function read(remark: Remark, reader: Reader): Analysis {
  const start = Array.from(remark.comment).slice(0, readCharacters).join('');
  const comment = start.replace(longestWord, '$& ');
  const { sentences, phrases, english } = reader(comment);
  const readable = remark.language.startsWith('en') && english;
  const tone = readable ? toneOf(sentences, remark.category) : null;
  const words = tone === 'positive' && hasReservation(comment) ? 'reserved' : tone;
  const sentiment = words ? sentimentOf(words, remark.category) : scoreAlone(remark.category);
  const named = themesOf(comment, remark.themes);
  const unnamed = phrases.filter((phrase) => themesOf(phrase, remark.themes).length === 0);
  const themes = tidyThemes(readable ? [...named, ...unnamed] : named);
  const leaving = readable && speaksOfLeaving(comment);
  const churn_risk = churnRiskOf(remark.category, sentiment, leaving);
  const summary = sentence(remark, { sentiment, themes: named, leaving, readable });
  return { sentiment, themes, churn_risk, summary };
}

type Found = { sentiment: string; themes: readonly string[]; leaving: boolean; readable: boolean };

function sentence({ category, score }: Remark, { sentiment, themes, leaving, readable }: Found) {
  const about = themes.length > 0 ? ` about ${listed(themes.slice(0, 3))}` : '';
  const going = leaving ? ', and speaks of leaving' : '';
  const who = `A ${category} (score ${score})`;
  const words = readable
    ? `${who} writes in a ${sentiment} tone${about}${going}.`
    : `${who} left a comment${about} in a language that was not read; the score alone says ${sentiment}.`;
  return tidyText(words, longestSummary);
}

const listed = (words: readonly string[]) =>
  new Intl.ListFormat('en', { type: 'conjunction' }).format(words);

/** Runs of nouns, with an adjective before them that distinguishes them: "monthly report", "return form". */
function nounPhrases(words: readonly string[], parts: readonly string[]): string[] {
  const phrases: string[] = [];
  let run: string[] = [];
  for (const [place, part] of [...parts, 'END'].entries()) {
    const word = (words[place] ?? '').toLowerCase();
    if (part === 'NOUN' || (part === 'ADJ' && run.length === 0 && !emptyAdjectives.has(word))) {
      run.push(word);
      continue;
    }
    if (run.length >= 2 && parts[place - 1] === 'NOUN') phrases.push(run.join(' '));
    run = [];
  }
  return phrases.filter((phrase) => /^[\p{L}\p{N}' -]+$/u.test(phrase));
}

/** Adjectives that go with any noun and make no theme of it. */
const emptyAdjectives: ReadonlySet<string> = new Set(
  'many much most more less few several some any other another same different whole entire last next first second new old own good bad great best better worst worse nice terrible awful amazing excellent big small long short little real only such sure able ten two three half'.split(
    ' ',
  ),
);
