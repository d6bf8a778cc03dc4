import type { Category, SurveyType } from '../scores.ts';
import type { Analysis } from './rules.ts';
import type { Theme } from './themes.ts';

/** What an analyst is told of an answer. The comment has nobody recognizable in it. */
export type Remark = {
  comment: string;
  score: number;
  type: SurveyType;
  category: Category;
  language: string;
  themes: readonly Theme[];
};

/** An analyst that cannot answer now says why, and whether asking later makes sense. */
export type Answer<T> = { ok: true; value: T } | { ok: false; why: string; later: boolean };

export type Analyst = {
  name: string;
  analyze(remark: Remark): Promise<Answer<Analysis>>;
  /** Words for a report, or null where the analyst leaves them to the template. */
  write(facts: string): Promise<Answer<string | null>>;
};
