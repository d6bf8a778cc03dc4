import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestEnded } from '../../src/lib/http/http.ts';
import { noticeOf } from '../support/probe/notice.ts';
import { keptScreens } from '../support/walls/kept-screens.ts';
import { watchRows } from './changes.ts';
import type { KeptForm } from './entry.ts';
import { keptForms } from './forms.ts';
import { keptFrames } from './frames.ts';
import { withNames } from './scene/names.ts';
import { cookieOf, type Reader } from './scene/organizations.ts';
import { makeStillScene } from './scene/scene.ts';
import { type Shown, shownAnswer } from './shown.ts';

const { db, app } = await makeStillScene();
const kept = keptScreens('forms');
const frames = keptFrames(kept);
const changes = await watchRows(db);
const seen = new Set<string>();
requestEnded.subscribe(({ method, route }) => seen.add(`${method} ${route}`));

for (const [folder, forms] of Object.entries(keptForms)) {
  const led: string[] = [];
  for (const form of forms) {
    const name = form.name ?? `${form.path} ${JSON.stringify(form.form)}`;
    test(
      withNames(`${folder}: what is answered to ${name}, and what it changes, is as it is kept`),
      async () => {
        const { lines } = await post(form);
        if (form.name) kept.compare(`${folder}/${form.name}.txt`, lines);
        else led.push(...lines);
      },
    );
  }
  test(`${folder}: forms lead where they are kept to lead`, () => {
    kept.compare(`${folder}/led.txt`, led);
  });
}

async function post({ path, form, as = 'owner', name, follow = false }: KeptForm) {
  const fields = Object.entries(form).flatMap(([field, values]) =>
    [values].flat().map((value): [string, string] => [field, value]),
  );
  const answer = await app.request(`https://askback.test${path}`, {
    method: 'POST',
    headers: { Accept: 'text/html', ...(as && cookieOf(as)) },
    body: new URLSearchParams(fields),
  });
  const leads = [301, 302, 303].includes(answer.status);
  const asked = `POST ${path} ${new URLSearchParams(fields)} as ${as ?? 'visitor'}`;
  assert.equal(leads, name === undefined || follow, `${asked} answers ${answer.status}`);
  assert.ok(answer.status < 500, `${asked} answers ${answer.status}`);
  const said = [
    ...framed(await shownAnswer(asked, answer), as),
    ...noticeLines(answer),
    ...(await changes()),
  ];
  if (!follow) return { lines: said };
  const next = await app.request(`https://askback.test${answer.headers.get('Location')}`, {
    headers: { Accept: 'text/html', Cookie: cookiesAfter(answer, as) },
  });
  return { lines: [...said, ...framed(await shownAnswer('then', next), as)] };
}

const framed = ({ lines, frame }: Shown, reader: Reader | null) =>
  frame ? [`frame ${frames.nameOf(frame, reader)}`, ...lines] : lines;

/** What the next page says of the act. */
function noticeLines(answer: Response): string[] {
  const notice = noticeOf(answer);
  return notice ? [withNames(JSON.stringify(notice))] : [];
}

function cookiesAfter(answer: Response, as: KeptForm['as'] = 'owner'): string {
  const set = answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0]!);
  return [as ? cookieOf(as).Cookie : '', ...set].filter((cookie) => cookie !== '').join('; ');
}

test('the frames of what forms answer are as they are kept', () => {
  frames.compare();
});

test('what is answered to every form that the app takes is kept', () => {
  const missing = app.routes
    .filter(
      ({ method, path }) => method === 'POST' && isForm.test(path) && !isKeptElsewhere.test(path),
    )
    .map(({ path }) => `POST ${path}`)
    .filter((route) => !seen.has(route));
  assert.deepEqual([...new Set(missing)], []);
  assert.deepEqual(kept.left(), []);
});

const isForm = /^(\/forgot|\/(o|sign-in|sign-out|reset|invitations|account|operator))(\/|$)/;
/** They need an authenticator, an OpenID provider or a second step. */
const isKeptElsewhere =
  /passkey(\/options)?$|\/passkeys(\/options)?$|\/sso\/remove$|\/sign-in\/code$/;
