import { lazy } from '../lib/async/memoize.ts';
import { countLanguageWords } from '../lib/redact/english.ts';
import type { Remark } from './analyst.ts';
import {
  type Analysis,
  churnRiskOf,
  hasReservation,
  maxSummary,
  mentionsLeaving,
  sentimentOf,
  sentimentOfScore,
  tidyText,
  tidyThemes,
  toneOf,
} from './rules.ts';
import { themesOf } from './themes.ts';

const maxCharacters = 2000;

/** The tokenizer takes cubic time in the length of a word. */
const longWord = /\S{60}/g;

/**
 * Loaded on first use: it takes half a second and 50 MB. Only the worker thread may import this file, because the
 * executable would otherwise contain the model twice.
 */
const reader = lazy(loadReader);

/** The model counts `support` as praise, but comments mean the department. */
const support = /\bsupport\b/gi;

async function loadReader() {
  const [{ default: winkNLP }, { default: model }] = await Promise.all([
    import('wink-nlp'),
    import('wink-eng-lite-web-model'),
  ]);
  const nlp = winkNLP(model, ['sbd', 'negation', 'sentiment', 'pos']);
  const { its } = nlp;
  return (text: string) => {
    const doc = nlp.readDoc(text);
    const tokens = doc.tokens();
    return {
      sentences: nlp
        .readDoc(text.replace(support, 'service'))
        .sentences()
        .out(its.sentiment) as unknown as number[],
      phrases: nounPhrases(tokens.out(its.value) as string[], tokens.out(its.pos) as string[]),
      english: isEnglish(text),
    };
  };
}

/** Reads English comments. For other languages only themes and score count. */
export async function readComment(remark: Remark): Promise<Analysis> {
  const { category, score } = remark;
  const start = Array.from(remark.comment).slice(0, maxCharacters).join('');
  const comment = start.replace(longWord, '$& ');
  const { sentences, phrases, english } = (await reader())(comment);
  const readable = remark.language.startsWith('en') && english;
  const tone = readable ? toneOf(sentences, category) : null;
  const words = tone === 'positive' && hasReservation(comment) ? 'reserved' : tone;
  const sentiment = words ? sentimentOf(words, category) : sentimentOfScore(category);
  const named = themesOf(comment, remark.themes);
  const unnamed = phrases.filter((phrase) => themesOf(phrase, remark.themes).length === 0);
  const leaving = readable && mentionsLeaving(comment);

  const about = named.length > 0 ? ` about ${listed(named.slice(0, 3))}` : '';
  const who = `A ${category} (score ${score})`;
  const summary = readable
    ? `${who} writes in a ${sentiment} tone${about}${leaving ? ' and mentions leaving' : ''}.`
    : `${who} left a comment${about} in another language. The score suggests ${sentiment} feedback.`;
  return {
    sentiment,
    themes: tidyThemes(readable ? [...named, ...unnamed] : named),
    churn_risk: churnRiskOf(category, sentiment, leaving),
    summary: tidyText(summary, maxSummary),
  };
}

const listed = (words: readonly string[]) =>
  new Intl.ListFormat('en', { type: 'conjunction' }).format(words);

/** Finds "monthly report" and "return form": an optional adjective and nouns. */
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

/** Adjectives that say nothing about a theme. */
const emptyAdjectives = wordSet(
  'many much most more less few several some any other another same different whole entire last next first second new old own good bad great best better worst worse nice terrible awful amazing excellent big small long short little real only such sure able ten two three half',
);

const fewWords = 4;

/** Short texts pass. Longer texts need English words, at least as many as foreign words. */
export function isEnglish(text: string): boolean {
  const count = countLanguageWords(text);
  if (!count || count.words === 0) return false;
  const ours = count.english + count.shared;
  if (count.foreign > ours) return false;
  return ours > 0 || count.words <= fewWords;
}

function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}
