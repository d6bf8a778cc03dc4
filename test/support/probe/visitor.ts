import type { createApp } from '../../../src/app.ts';

type App = ReturnType<typeof createApp>;
type Headers = Record<string, string>;

/** A browser without a network that starts with only these cookies. */
export function visitorBrowser(app: App, cookies: Headers = {}, always: Headers = {}) {
  const jar = new Map(Object.entries(cookies));

  async function request(path: string, init: RequestInit = {}) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { Accept: 'text/html', ...always, ...(cookie && { Cookie: cookie }) };
    const answer = await app.request(path, { ...init, headers: { ...headers, ...init.headers } });
    for (const set of answer.headers.getSetCookie()) keep(jar, set);
    return answer;
  }

  const get = (path: string, headers: Headers = {}) => request(path, { headers });
  const post = (path: string, form: Headers = {}, headers: Headers = {}) =>
    request(path, { method: 'POST', body: new URLSearchParams(form), headers });
  return {
    get,
    post,
    cookie: (name: string) => jar.get(name),
    /** The current cookies, to simulate an attack with stolen ones. */
    cookies: (): Headers => Object.fromEntries(jar),
  };
}

function keep(jar: Map<string, string>, set: string) {
  const [pair = '', ...attributes] = set.split('; ');
  const [name = '', value = ''] = pair.split('=');
  if (attributes.includes('Max-Age=0')) jar.delete(name);
  else jar.set(name, value);
}
