import type { Category, SurveyType } from '../scores.ts';
import type { Analysis } from './rules.ts';
import type { CommentTheme } from './themes.ts';

/** What an analyst gets of an answer. The comment has no recognizable person in it. */
export type Remark = {
  /** Organizations take turns; not part of what an analyst reads. */
  orgId: string;
  comment: string;
  score: number;
  type: SurveyType;
  category: Category;
  language: string;
  themes: readonly CommentTheme[];
};

/** An analyst that cannot answer now says why, whether asking later makes sense, and when at the earliest. */
export type AnalystAnswer<T> = { ok: true; value: T } | AnalystRefusal;

export type AnalystRefusal = { ok: false; why: string; later: boolean; waitMs: number };

export type Analyst = {
  name: string;
  analyze(remark: Remark): Promise<AnalystAnswer<Analysis>>;
  /** Words for a report, or null where the analyst leaves them to the template. */
  write(facts: string): Promise<AnalystAnswer<string | null>>;
};
