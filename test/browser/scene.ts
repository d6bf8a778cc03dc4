import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { createAdaptorServer } from '@hono/node-server';
import type { BrowserContext } from 'playwright-core';
import type { AppTools } from '../../src/app.ts';
import { demoOrganization, fillDemo } from '../../src/demo/fill.ts';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import type { Db } from '../../src/lib/db/db.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { makeMember, signIn, slugOfOrganization } from '../support/make/session.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

/** The whole application for a browser, with the demo's organization and an empty one. */
export async function makeScene(over: Partial<AppTools> = {}): Promise<BrowserScene> {
  const { db } = await testDatabase();
  await fillDemo({ db, secrets: createSecrets([Buffer.alloc(32, 1)]) }, new Date());
  const empty = await makeOrganization(db, { name: 'Northgate Clinic', slug: 'northgate-clinic' });
  let routes: BrowserScene['routes'] = [];
  const base = await serveApp((publicUrl) => {
    const app = bareApp(db, { publicUrl, ...over });
    routes = app.routes;
    return app;
  });
  return {
    db,
    base,
    routes,
    full: { id: demoOrganization, slug: await slugOfOrganization(db, demoOrganization) },
    empty: { id: empty, slug: 'northgate-clinic' },
  };
}

type ServedApp = { fetch: Parameters<typeof createAdaptorServer>[0]['fetch'] };

/** Serves an application that needs to know its own address, until the test file ends. */
export async function serveApp(make: (publicUrl: string) => ServedApp): Promise<string> {
  let app: ServedApp | undefined;
  const server = createAdaptorServer({ fetch: (...given) => app!.fetch(...given) });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  app = make(base);
  return base;
}

const people = { viewer: 'Viktor Lind', editor: 'Lena Dahl', owner: 'Hana Moreau' } as const;

/** Signs the browser in with this role in both organizations, or as an operator who also owns them. */
export async function signInBrowser(
  context: BrowserContext,
  scene: BrowserScene,
  as: NonNullable<ScreenEntry['as']>,
) {
  const { Cookie } = await signInAs(scene, as);
  await signInWith(context, { base: scene.base, cookie: Cookie });
}

/** Cookie header of a browser with such a session. */
export async function signInAs(
  { db, full, empty }: Pick<BrowserScene, 'db' | 'full' | 'empty'>,
  as: NonNullable<ScreenEntry['as']>,
): Promise<{ Cookie: string }> {
  const role = as === 'operator' ? 'owner' : as;
  const email = `${as}@members.test`;
  const [known] = await db<{ id: string }[]>`select id from members where email = ${email}`;
  const member =
    known?.id ??
    (await makeMember(db, { name: people[role], email, is_operator: as === 'operator' }));
  await signIn(db, { member, org: full.id, role });
  return await signIn(db, { member, org: empty.id, role });
}

/** Sets the cookies of a header in the browser. Secure cookies are left out over http. */
export async function signInWith(
  context: BrowserContext,
  { base, cookie }: { base: string; cookie: string },
) {
  const cookies = cookie.split('; ').map((one) => {
    const [name = '', value = ''] = one.split('=');
    return { name, value, url: base };
  });
  await context.addCookies(cookies.filter(({ name }) => !name.startsWith('__Host-')));
}

/** A service with the demo's organization and an empty one. */
export type BrowserScene = {
  db: Db;
  /** The base URL, such as `http://127.0.0.1:40123`. */
  base: string;
  routes: readonly { method: string; path: string }[];
  /** The organization that the demo has filled. */
  full: { id: string; slug: string };
  empty: { id: string; slug: string };
};

/** A screen of the app and how to visit it. Each area lists its own screens. */
export type ScreenEntry = {
  /** Unique name of its screenshots: `app-NAME-1280-dark.png`. */
  name: string;
  /** The role of the visitor. `null` is not signed in. */
  as: 'viewer' | 'editor' | 'owner' | 'operator' | null;
  /** The path, or a function that first creates the rows that the screen shows. */
  path: string | ((scene: BrowserScene) => string | Promise<string>);
  status?: number;
};
