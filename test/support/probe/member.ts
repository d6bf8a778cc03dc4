import type { createApp } from '../../../src/app.ts';
import type { Sql } from '../../../src/lib/db/db.ts';
import type { Role } from '../../../src/sessions/session.ts';
import { signIn, slugOfOrganization } from '../make/session.ts';
import { bareApp } from './app.ts';

type App = ReturnType<typeof createApp>;
type Form = Record<string, string | string[] | File>;

/** A member's browser without a network. It keeps cookies and posts forms like a browser. */
export async function memberBrowser(
  sql: Sql,
  { app, org, role = 'owner' }: { app?: App; org: string; role?: Role },
) {
  const asked = app ?? bareApp(sql as Parameters<typeof bareApp>[0]);
  const jar = new Map<string, string>();
  const { Cookie } = await signIn(sql, { org, role });
  for (const pair of Cookie.split('; ')) keep(jar, pair);
  const home = `/o/${await slugOfOrganization(sql, org)}`;

  async function request(path: string, init: RequestInit = {}) {
    const cookies = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await asked.request(path, {
      ...init,
      headers: { Cookie: cookies, ...init.headers },
    });
    for (const set of answer.headers.getSetCookie()) keep(jar, set.split(';')[0]!);
    return answer;
  }

  const get = (path: string) => request(path);
  const post = (path: string, form: Form = {}) =>
    request(path, { method: 'POST', body: bodyOf(form) });
  /** Posts a form and follows its redirect. */
  async function submit(path: string, form: Form = {}) {
    const answer = await post(path, form);
    return answer.status === 303 ? await get(answer.headers.get('Location')!) : answer;
  }
  return { home, get, post, submit, request };
}

function keep(jar: Map<string, string>, pair: string) {
  const at = pair.indexOf('=');
  const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
  if (value === '') jar.delete(name);
  else jar.set(name, value);
}

function bodyOf(form: Form): FormData | URLSearchParams {
  const fields = Object.entries(form).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, value] as const),
  );
  if (fields.every((field): field is [string, string] => typeof field[1] === 'string')) {
    return new URLSearchParams(fields);
  }
  const data = new FormData();
  for (const [name, value] of fields) data.append(name, value);
  return data;
}
