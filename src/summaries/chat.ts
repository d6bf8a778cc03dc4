import * as v from 'valibot';
import type { AnalystAnswer, AnalystRefusal } from './analyst.ts';

const largestAnswer = 256 * 1024;
const longestWaitHereMs = 5000;
const defaultWaitMs = 500;

export type ProviderSettings = { url: string; key: string | null; model: string };
export type Endpoint = ProviderSettings & { answerTimeoutMs: number };

/** What is asked, and what the answer must be. The data is not ours and never part of the instructions. */
export type Question<S> = {
  instructions: string;
  data: string;
  name: string;
  jsonSchema: object;
  schema: S;
};

/** Once more after a moment where that may help: the endpoint's own wish is followed, if it is short. */
export async function askTwice<S extends v.GenericSchema>(
  endpoint: Endpoint,
  question: Question<S>,
): Promise<AnalystAnswer<v.InferOutput<S>>> {
  const first = await askOnce(endpoint, question);
  if (first.ok || !first.later || first.waitMs > longestWaitHereMs) return first;
  await new Promise((later) => setTimeout(later, first.waitMs));
  return await askOnce(endpoint, question);
}

export const refused = (why: string, later: boolean, waitMs = defaultWaitMs): AnalystRefusal => ({
  ok: false,
  why,
  later,
  waitMs,
});

/** The deadline covers the whole answer: one that drips is as late as one that never comes. */
async function askOnce<S extends v.GenericSchema>(
  endpoint: Endpoint,
  question: Question<S>,
): Promise<AnalystAnswer<v.InferOutput<S>>> {
  try {
    const { request } = await import('undici'); // takes its time to load, and is used by few
    const { statusCode, headers, body } = await request(addressOf(endpoint.url), {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(endpoint.key ? { Authorization: `Bearer ${endpoint.key}` } : {}),
      },
      body: JSON.stringify(messageOf(endpoint.model, question)),
      signal: AbortSignal.timeout(endpoint.answerTimeoutMs),
    });
    const text = await readText(body);
    if (statusCode === 200) return readAnswer(text, question.schema);
    const waitMs = waitOf(headers['retry-after']);
    return refused(`status ${statusCode}`, !blamesTheQuestion.has(statusCode), waitMs);
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    return refused(message || code || 'no connection', true);
  }
}

/** The same question would be refused again; anything else may pass, or be mended by the operator. */
const blamesTheQuestion: ReadonlySet<number> = new Set([400, 413, 422]);

const addressOf = (url: string) =>
  /\/chat\/completions\/?$/.test(url) ? url : `${url.replace(/\/+$/, '')}/chat/completions`;

const messageOf = (model: string, question: Question<unknown>) => ({
  model,
  messages: [
    { role: 'system', content: question.instructions },
    { role: 'user', content: question.data },
  ],
  response_format: {
    type: 'json_schema',
    json_schema: { name: question.name, strict: true, schema: question.jsonSchema },
  },
});

/** Seconds, or a date. */
function waitOf(retryAfter: string | string[] | undefined): number {
  if (typeof retryAfter !== 'string') return defaultWaitMs;
  const seconds = Number(retryAfter);
  const waitMs = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000;
  return Number.isFinite(waitMs) ? Math.max(waitMs, 0) : defaultWaitMs;
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > largestAnswer) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const Completion = v.object({
  choices: v.pipe(
    v.array(v.object({ message: v.object({ content: v.string() }) })),
    v.minLength(1),
  ),
});

function readAnswer<S extends v.GenericSchema>(
  text: string,
  schema: S,
): AnalystAnswer<v.InferOutput<S>> {
  try {
    const { choices } = v.parse(Completion, JSON.parse(text));
    return { ok: true, value: v.parse(schema, JSON.parse(choices[0]!.message.content)) };
  } catch {
    return refused('the answer is not of the form that was asked for', false);
  }
}
