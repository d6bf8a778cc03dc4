import { type PeopleToRedact, redact, redactedExcerpt } from './lib/redact/redact.ts';
import { serveTasks } from './lib/worker/thread.ts';
import type { Remark } from './summaries/analyst.ts';
import { readComment } from './summaries/builtin.ts';
import { readReport } from './suppressions/report.ts';

type Comment = PeopleToRedact & { comment: string };

/** The program of the worker thread. The first task that needs a language model loads it. */
serveTasks({
  excerpt: ({ comment, ...known }: Comment) => redactedExcerpt(comment, known),
  redact: ({ comment, ...known }: Comment) => redact(comment, known),
  analyze: (remark: Remark) => readComment(remark),
  report: (message: Uint8Array) => readReport(message),
});
