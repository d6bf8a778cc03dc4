import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceName } from '../../src/members/account/device.rules.ts';

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
  ['curl/8.0', 'Unknown device'],
  [null, 'Unknown device'],
];
for (const [userAgent, name] of examples) {
  test(`${userAgent?.slice(0, 40) ?? 'nothing'} is ${name}`, () => {
    assert.equal(deviceName(userAgent), name);
  });
}
