import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { loadConfig, redactedConfig } from '../../src/settings.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
const secrets: Record<string, string> = {
  ASKBACK_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
  ASKBACK_PREVIOUS_SECRET_KEY: Buffer.alloc(32, 2).toString('base64'),
  ASKBACK_DKIM_KEY: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  ASKBACK_AI_KEY: 'key-of-the-analyst',
  ASKBACK_OIDC_CLIENT_SECRET: 'secret-of-the-client',
  ASKBACK_METRICS_TOKEN: 'token-of-the-metrics',
};
const passwords: Record<string, string> = {
  DATABASE_URL: 'postgres://askback:pass-of-database@localhost/askback',
  ASKBACK_SMTP_URL: 'smtp://askback:pass-of-mail@mail.test',
  ASKBACK_AI_URL: 'https://askback:pass-of-analyst@ai.test/v1',
};
const others = {
  ASKBACK_DKIM_DOMAIN: 'acme.test',
  ASKBACK_DKIM_SELECTOR: 's1',
  ASKBACK_AI_MODEL: 'reader',
  ASKBACK_OIDC_ISSUER: 'https://login.acme.test',
  ASKBACK_OIDC_CLIENT_ID: 'askback',
};

const bytesOf = (secret: string) => [...Buffer.from(secret, 'base64')].join(',');

test('redacted settings contain no secret and no password', () => {
  const config = loadConfig({ ...secrets, ...passwords, ...others }, () => '');
  const said = JSON.stringify(redactedConfig(config));
  for (const secret of Object.values(secrets)) {
    for (const form of [secret, bytesOf(secret)]) {
      assert.ok(!said.includes(JSON.stringify(form).slice(1, -1)));
    }
  }
  assert.doesNotMatch(said, /pass-of-/);
});

test('a redacted secret shows that it is set', () => {
  const settings = redactedConfig(loadConfig({ ...secrets, ...others }, () => ''));
  assert.equal(settings['ASKBACK_SECRET_KEY'], '(secret)');
  assert.equal(settings['ASKBACK_PREVIOUS_SECRET_KEY'], '(secret)');
});
