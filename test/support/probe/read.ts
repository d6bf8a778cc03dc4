import assert from 'node:assert/strict';
import type { createApp } from '../../../src/app.ts';

type App = ReturnType<typeof createApp>;
type Item = { id: string } & Record<string, unknown>;
type ListAnswer = {
  data: Item[];
  meta: {
    page: number;
    limit: number;
    total: number;
    next_cursor: string | null;
    ignored?: string[];
  };
};

/** Reads as one client. Responses must be 200, except for `get` and `status`. */
export function reader(app: App, headers: Record<string, string>) {
  const get = (path: string) => app.request(path, { headers });
  const json = async <T>(path: string): Promise<T> => {
    const response = await get(path);
    assert.equal(response.status, 200, `${path}: ${await response.clone().text()}`);
    return (await response.json()) as T;
  };
  return {
    get,
    json,
    list: (path: string) => json<ListAnswer>(path),
    ids: async (path: string) => (await json<ListAnswer>(path)).data.map(({ id }) => id),
    status: async (path: string) => (await get(path)).status,
  };
}

/** All ids of a list, page by page. */
export async function idsByPage(list: (path: string) => Promise<ListAnswer>, path: string) {
  const ids: string[] = [];
  for (let page = 1; ; page++) {
    const { data } = await list(`${path}&page=${page}`);
    if (data.length === 0) return ids;
    ids.push(...data.map(({ id }) => id));
  }
}

/** All ids of a list, following the cursors. */
export async function idsByCursor(list: (path: string) => Promise<ListAnswer>, path: string) {
  const ids: string[] = [];
  for (let next = ''; ; ) {
    const { data, meta } = await list(path + next);
    ids.push(...data.map(({ id }) => id));
    if (meta.next_cursor === null) return ids;
    next = `&cursor=${meta.next_cursor}`;
  }
}
