import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestEnded } from '../../src/lib/http/http.ts';
import { makeScene, signInAs } from '../browser/scene.ts';
import { screenEntries } from '../browser/screens.ts';
import { type FilterForm, filterFormsOf, unlikeShown } from './filter-forms.ts';

const largestPage = 60_000;

const scene = await makeScene();
const seen = new Set<string>();
const ofNoOrganization = new Set<string>();
requestEnded.subscribe(({ method, route, status, tenant }) => {
  seen.add(`${method} ${route}`);
  if (/^\/o\//.test(route) && status === 200 && tenant === null) ofNoOrganization.add(route);
});

for (const { name, as, path, status = 200 } of screenEntries) {
  test(`${name} responds ${status} with one heading and under 60 KB`, async () => {
    const address = typeof path === 'string' ? path : await path(scene);
    const headers: Record<string, string> = as ? await signInAs(scene, as) : {};
    const answer = await fetch(scene.base + address, { headers });
    const html = await answer.text();
    assert.equal(answer.status, status);
    assert.equal(html.match(/<h1[ >]/g)?.length, 1);
    assert.ok(html.length < largestPage, `${html.length} characters`);
    assert.deepEqual(misalignedColumns(html), []);
    for (const form of filterFormsOf(html)) await showsWhatIsAskedFor(form, headers);
    if (isPaged.test(html)) await leadsBackFromPastTheEnd(address, headers);
  });
}

const asked = new Set<string>();

/** Each field of a filter form shows its value in the query, so that the next request keeps it. */
async function showsWhatIsAskedFor({ path, fields }: FilterForm, headers: Record<string, string>) {
  const names = fields.map(({ name }) => name).join();
  if (names === '' || asked.has(path + names)) return;
  asked.add(path + names);
  const given = fields.map((field) => ({ name: field.name, value: unlikeShown(field) }));
  const query = new URLSearchParams(given.map(({ name, value }) => [name, value]));
  const answer = await fetch(`${scene.base}${path}?${query}`, { headers });
  assert.equal(answer.status, 200, `${path}?${query}`);
  const forms = filterFormsOf(await answer.text()).filter((form) => form.path === path);
  for (const { name, value } of given) {
    // A picked pair may be shown as a separate field: answer=q_1=o_2 as answer.q_1=o_2.
    const shown = forms.flatMap(({ fields }) =>
      fields.map((of) => `${of.name.replace(`${name}.`, `${name}=`)}=${of.value}`),
    );
    assert.ok(shown.includes(`${name}=${value}`), `${path} shows ${shown}, not ${name}=${value}`);
  }
}

async function leadsBackFromPastTheEnd(address: string, headers: Record<string, string>) {
  const pathname = new URL(address, scene.base).pathname;
  const past = await fetch(`${scene.base}${pathname}?page=9999`, { headers });
  assert.ok((await past.text()).includes('This page does not exist'), pathname);
}

/** Columns of numbers must have the class `n` in their head and cells, so that digits line up. */
function misalignedColumns(html: string): string[] {
  return [...html.matchAll(/<table[\s\S]*?<\/table>/g)].flatMap(([table]) => {
    const [head = [], ...rows] = [...table.matchAll(/<tr[\s\S]*?<\/tr>/g)].map(([row]) =>
      [...row.matchAll(/<t[hd]([^>]*)>([\s\S]*?)<\/t[hd]>/g)].map(([, attributes, inner]) => ({
        isSet: /class="n[" ]/.test(attributes!),
        text: inner!.replaceAll(/<[^>]*>/g, '').trim(),
      })),
    );
    return head.flatMap((column, at) => {
      const cells = rows.flatMap((row) => row[at] ?? []);
      const hasNumbers = cells.length > 0 && cells.every(({ text }) => isNumber.test(text));
      const isRight = !hasNumbers || [column, ...cells].every(({ isSet }) => isSet);
      return at === 0 || isRight ? [] : [column.text];
    });
  });
}

const isNumber = /^(–|(± |[+−])?[\d,]+(\.\d+)?(%| m?s| of [\d,]+)?)$/;

const isPaged = /class="pager">(<span>)?[\d,]+ (to [\d,]+ of|survey)/;

test('the browser test visits every screen', () => {
  const missing = scene.routes
    .filter(({ method }) => method === 'GET')
    .map(({ path }) => `GET ${path}`)
    .filter((route) => isScreen.test(route) && !isNoScreen.test(route) && !seen.has(route));
  assert.deepEqual([...new Set(missing)], []);
});

test('every screen is logged, traced and counted with its organization', () => {
  assert.deepEqual([...ofNoOrganization], []);
});

const isScreen = /^GET (\/forgot|\/(o\/|sign-in|account|operator|reset|invitations|welcome))/;
/**
 * Files, parts of other screens, redirects, and pages that only follow a POST, such as a second step or a secret that
 * is shown once. Passkeys need a host name.
 */
const isNoScreen =
  /\.(csv|svg)$|\/(export|preview|oidc|callback)$|^GET \/o\/:slug\/settings$|\/mail\/:contact$|\/(sign-in\/code|codes\/new|codes\/recovery|passkeys\/new)$/;
