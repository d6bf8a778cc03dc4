import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { AppTools } from '../../../src/app.ts';
import type { Db } from '../../../src/lib/db/db.ts';
import type { OidcSettings } from '../../../src/settings.ts';
import {
  clientId,
  clientSecret,
  type ProviderAccount,
  passProvider,
  startOpenidProvider,
} from '../fakes/openid-provider.ts';
import { bareApp } from '../probe/app.ts';
import { visitorBrowser } from '../probe/visitor.ts';
import { testSettings } from './settings.ts';

export const publicUrl = 'https://askback.test';
export const callback = `${publicUrl}/sign-in/oidc/callback`;

export type SignInRules = Partial<OidcSettings>;
export type SignInBrowser = ReturnType<typeof visitorBrowser>;
/** A person's claims, in the form of any provider. */
type Person = ProviderAccount | Record<string, unknown>;

/** An organization with single sign-on, and helpers to sign in. */
export async function singleSignOn(
  db: Db,
  { organization, path = '' }: { organization: string; path?: string },
) {
  const provider = await startOpenidProvider({ redirectUri: callback, path });
  after(() => provider.close());

  function appWith(rules: SignInRules = {}, over: Partial<AppTools> = {}) {
    const oidc: OidcSettings = {
      issuer: provider.issuer,
      clientId,
      clientSecret,
      name: 'Acme Login',
      domains: [],
      organization,
      role: null,
      groups: [],
      ...rules,
    };
    const settings = { ...testSettings, signIn: { byPassword: true, oidc } };
    return bareApp(db, { settings, ...over });
  }

  /** Signs in at the provider and returns the URL of its redirect. */
  async function goThrough(browser: SignInBrowser, person: Person, next = '/') {
    provider.state.account = person as ProviderAccount;
    const begun = await browser.get(`/sign-in/oidc?next=${encodeURIComponent(next)}`);
    assert.equal(begun.status, 303);
    const back = await passProvider(begun.headers.get('Location')!, callback);
    return `${back.pathname}${back.search}`;
  }

  /** Signs a person in with a new browser, which has a session if the sign-in was accepted. */
  async function signInAs(person: Person, rules: SignInRules = {}, next = '/') {
    const browser = visitorBrowser(appWith(rules));
    const answer = await browser.get(await goThrough(browser, person, next));
    const hasSession = browser.cookie('__Host-askback') !== undefined;
    return { browser, answer, status: answer.status, text: await answer.text(), hasSession };
  }

  /** Finds a member by email or by the provider's subject. */
  async function memberOf(word: string) {
    const [row] = await db<SignedUp[]>`
      select m.id, m.email, m.name, s.role, s.group_role
      from members m
      left join memberships s on s.member_id = m.id and s.org_id = ${organization}
      where ${word} in (m.email, m.sso_subject)`;
    return row;
  }

  return { state: provider.state, appWith, goThrough, signInAs, memberOf };
}

type SignedUp = {
  id: string;
  email: string;
  name: string;
  role: string | null;
  group_role: string | null;
};
