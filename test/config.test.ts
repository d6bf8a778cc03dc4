import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../src/config.ts';

const noFile = () => {
  throw new Error('no such file');
};

test('what is not said has a default', () => {
  const config = loadConfig({}, noFile);
  assert.equal(config.port, 8080);
  assert.equal(config.databaseUrl, null);
  assert.deepEqual(config.webhooks, { allow: [], http: false });
});

test('every mistake is reported, not just the first', () => {
  const environment = { PORT: '99999', ASKBACK_SERVICE_NAME: 'two words', LOG_LEVEL: 'loud' };
  assert.throws(() => loadConfig(environment, noFile), {
    message: /PORT: .*\n.*ASKBACK_SERVICE_NAME: .*\n.*LOG_LEVEL: /,
  });
});

test('a setting may be kept in a file', () => {
  const config = loadConfig({ ASKBACK_METRICS_TOKEN_FILE: '/run/token' }, (path) => `${path}!\n`);
  assert.equal(config.metrics.token, '/run/token!');
});

test('a file that cannot be read is reported by the name of its setting', () => {
  assert.throws(() => loadConfig({ PORT_FILE: '/nowhere' }, noFile), { message: /PORT_FILE: / });
});

test('a setting given twice is refused', () => {
  assert.throws(() => loadConfig({ PORT: '1', PORT_FILE: '/run/port' }, () => '1'), {
    message: /PORT: is given twice/,
  });
});

test('a database of one’s own needs a secret key of one’s own', () => {
  assert.throws(() => loadConfig({ DATABASE_URL: 'postgres://localhost/askback' }, noFile), {
    message: /ASKBACK_SECRET_KEY: is required/,
  });
});
