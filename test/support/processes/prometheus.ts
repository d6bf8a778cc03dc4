import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after } from 'node:test';
import { parse, stringify } from 'yaml';
import { freePort } from './free-port.ts';

type Series = { metric: Record<string, string>; value: [at: number, value: string] };
type Metadata = { type: string; help: string; unit: string };
type RuleState = { name: string; type: string; health: string; state?: string; lastError?: string };

/** Runs promtool and fails without it: `ops/ci/with-prometheus` installs it. */
export async function promtool(words: readonly string[], input = '') {
  const child = spawn('promtool', words, { stdio: 'pipe' });
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code: code as number | null, output: stdout + stderr };
}

/** A Prometheus that scrapes one address each second and evaluates the rules of `ops`. */
export async function startPrometheus({ target, token }: { target: string; token: string }) {
  const home = mkdtempSync(join(tmpdir(), 'askback-prometheus-'));
  writeFileSync(join(home, 'token'), token);
  writeFileSync(join(home, 'rules.yml'), evaluatedAtOnce());
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [join(home, 'rules.yml')],
    scrape_configs: [
      {
        job_name: 'askback',
        authorization: { credentials_file: join(home, 'token') },
        static_configs: [{ targets: [target] }],
      },
    ],
  };
  writeFileSync(join(home, 'prometheus.yml'), stringify(config));
  const port = freePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(home, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(home, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=exemplar-storage',
    ],
    { stdio: 'ignore' },
  );
  after(() => end(child, home));
  return askable(`http://127.0.0.1:${port}/api/v1`);
}

/** The rules without the intervals of their groups, so that all are evaluated at once. */
function evaluatedAtOnce(): string {
  const { groups } = parse(readFileSync('ops/prometheus/rules.yml', 'utf8'));
  for (const group of groups) delete group.interval;
  return stringify({ groups });
}

function askable(api: string) {
  const ask = async (path: string, query: Record<string, string> = {}) => {
    const response = await fetch(`${api}/${path}?${new URLSearchParams(query)}`);
    return (await response.json()) as { status: string; error?: string; data: unknown };
  };
  return {
    /** Undefined until Prometheus responds. */
    async query(expression: string): Promise<Series[] | undefined> {
      const answer = await ask('query', { query: expression }).catch(() => undefined);
      if (!answer) return undefined;
      if (answer.status !== 'success') throw new Error(`${expression}: ${answer.error}`);
      return (answer.data as { result: Series[] }).result;
    },
    /** Exemplars of the last minute of all series that the selector matches. */
    async exemplars(selector: string): Promise<Record<string, string>[]> {
      const now = Date.now() / 1000;
      const span = { start: String(now - 60), end: String(now + 1) };
      const { data } = await ask('query_exemplars', { query: selector, ...span });
      const series = data as { exemplars: { labels: Record<string, string> }[] }[];
      return series.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels));
    },
    /** Metadata of a metric family. */
    async metadata(metric: string): Promise<Metadata[] | undefined> {
      const { data } = await ask('metadata', { metric });
      return (data as Record<string, Metadata[]>)[metric];
    },
    async rules(): Promise<RuleState[]> {
      const { groups } = (await ask('rules')).data as { groups: { rules: RuleState[] }[] };
      return groups.flatMap(({ rules }) => rules);
    },
  };
}

async function end(child: ChildProcess, home: string) {
  if (child.exitCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(home, { recursive: true });
}
