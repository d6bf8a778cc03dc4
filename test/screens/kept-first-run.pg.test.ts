import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeWelcomeLink } from '../../src/members/welcome.ts';
import type { OidcSettings } from '../../src/settings/sign-in.ts';
import { testSettings } from '../support/make/settings.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { keptScreens } from '../support/walls/kept-screens.ts';
import { shownAnswer } from './shown.ts';

const { db } = await testDatabase();
const kept = keptScreens('first-run');
const oidc = { name: 'Larkspur ID' } as OidcSettings;
const signIns = {
  password: { byPassword: true, oidc: null },
  both: { byPassword: true, oidc },
  sso: { byPassword: false, oidc },
};

const first = {
  ...{ name: 'Hana', email: 'hana@larkspur.example', organization: 'Larkspur & Söhne' },
  password: 'glass heron tuesday',
};

type FirstRun = { name: string; signIn?: keyof typeof signIns; form?: Record<string, string> };

/** In this order: all that comes after the first member is too late. */
const runs: FirstRun[] = [
  { name: 'welcome' },
  { name: 'welcome-sso-too', signIn: 'both' },
  { name: 'welcome-sso-alone', signIn: 'sso' },
  { name: 'nothing-typed', form: {} },
  { name: 'nothing-typed-sso-alone', signIn: 'sso', form: {} },
  { name: 'typed-wrong', form: { ...first, email: 'hana', password: 'short' } },
  { name: 'password-weak', form: { ...first, password: 'password1234' } },
  { name: 'first-member', form: first },
  { name: 'too-late', form: first },
  { name: 'too-late-nothing-typed', form: {} },
];

const path = new URL((await makeWelcomeLink(db, 'https://askback.test'))!).pathname;

for (const { name, signIn = 'password', form } of runs) {
  test(`the first run: ${name} is as it is kept`, async () => {
    const app = bareApp(db, { settings: { ...testSettings, signIn: signIns[signIn] } });
    const answer = await app.request(path, {
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      headers: { Accept: 'text/html' },
    });
    const asked = `${form ? 'POST' : 'GET'} /welcome/TOKEN`;
    const { lines, frame = [] } = await shownAnswer(asked, answer);
    kept.compare(`${name}.txt`, name === 'welcome' ? [...lines, 'within', ...frame] : lines);
  });
}

test('every page of the first run that is kept is one of these', () => {
  assert.deepEqual(kept.left(), []);
});
