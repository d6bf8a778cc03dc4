import type { Db } from '../../src/lib/db/db.ts';

/** What a list of screens may build on: the demo's organization, and one in which nothing was done yet. */
export type BrowserScene = {
  db: Db;
  /** The address of the service, such as `http://127.0.0.1:40123`. */
  base: string;
  routes: readonly { method: string; path: string }[];
  /** The organization that the demo has filled. */
  full: { id: string; slug: string };
  empty: { id: string; slug: string };
};

/** A screen of the app, as it is visited: every one has an entry in the list of its room. */
export type ScreenEntry = {
  /** Of its pictures, unique: `app-NAME-1280-dark.png`. */
  name: string;
  /** The role that visits it; `null` is a visitor who is not signed in. */
  as: 'viewer' | 'editor' | 'owner' | 'operator' | null;
  /** Where it is; a function may first make the rows it shows. */
  path: string | ((scene: BrowserScene) => string | Promise<string>);
  status?: number;
};
