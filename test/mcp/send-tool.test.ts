import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { checkConfirm, confirmWord } from '../../src/mcp/tools.ts';

const secrets = createSecrets([Buffer.alloc(32, 1)]);
const orgId = randomUUID();
const input = { survey_id: randomUUID(), contacts: [{ email: 'ben@people.test' }] };
const tenMinutesMs = 600_000;

for (const [ms, isTooOld] of [
  [0, false],
  [tenMinutesMs, false],
  [tenMinutesMs + 1, true],
] as const) {
  test(`the word of a dry run is ${isTooOld ? 'too old' : 'good'} after ${ms} ms`, (t) => {
    const began = Date.now();
    const clock = t.mock.method(Date, 'now', () => began);
    const confirm = confirmWord(secrets, orgId, input);
    clock.mock.mockImplementation(() => began + ms);
    const check = () => checkConfirm(secrets, orgId, { ...input, confirm });
    const tooOld = { code: 'confirm_too_old', message: /^confirm holds for 10 minutes/ };
    if (isTooOld) assert.throws(check, tooOld);
    else check();
    clock.mock.restore();
  });
}
