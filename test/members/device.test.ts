import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceName } from '../../src/members/account.ts';

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const examples: [userAgent: string | null, name: string][] = [
  [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/140.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  [
    `Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/140.0 Safari/537.36 Edg/140.0`,
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 15.0; rv:143.0) Gecko/20100101 Firefox/143.0',
    'Firefox on Mac',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1',
    'Safari on iPhone',
  ],
  [
    `Mozilla/5.0 (Linux; Android 15) ${webkit} Chrome/140.0 Mobile Safari/537.36`,
    'Chrome on Android',
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/138.0.0.0 Safari/537.36 OPR/122.0`,
    'Opera on Windows',
  ],
  [
    `Mozilla/5.0 (Linux; Android 14) ${webkit} SamsungBrowser/28.0 Chrome/130.0 Mobile Safari/537.36`,
    'Samsung Internet on Android',
  ],
  [
    `Mozilla/5.0 (Linux; Android 15) ${webkit} Chrome/140.0 Mobile Safari/537.36 EdgA/140.0`,
    'Edge on Android',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) FxiOS/143.0 Mobile Safari/605.1.15',
    'Firefox on iPhone',
  ],
  [
    'Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) CriOS/140.0 Mobile Safari/604.1',
    'Chrome on iPad',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 EdgiOS/140.0 Mobile Safari/604.1',
    'Edge on iPhone',
  ],
  [`Mozilla/5.0 (X11; CrOS x86_64) ${webkit} Chrome/134.0 Safari/537.36`, 'Chrome on ChromeOS'],
  ['Firefox/143.0', 'Firefox'],
  ['Program (Linux)', 'Linux'],
  ['curl/8.0', 'Unknown device'],
  [null, 'Unknown device'],
];
for (const [userAgent, name] of examples) {
  test(`${userAgent ?? 'nothing'} is ${name}`, () => {
    assert.equal(deviceName(userAgent), name);
  });
}
