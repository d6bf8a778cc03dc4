import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { ConfigError, formatSetting, loadConfig } from '../../src/settings.ts';

const noFile = () => {
  throw new Error('no such file');
};

test('all errors are reported at once', () => {
  const environment = { PORT: '99999', ASKBACK_SERVICE_NAME: 'two words', LOG_LEVEL: 'loud' };
  assert.throws(() => loadConfig(environment, noFile), {
    message: /PORT: .*\n.*ASKBACK_SERVICE_NAME: .*\n.*LOG_LEVEL: /,
  });
});

test('a setting can come from a file', () => {
  const config = loadConfig({ ASKBACK_METRICS_TOKEN_FILE: '/run/token' }, (path) => `${path}!\n`);
  assert.equal(config.metrics.token, '/run/token!');
});

test('an unreadable file is reported with its setting', () => {
  assert.throws(() => loadConfig({ PORT_FILE: '/nowhere' }, noFile), { message: /PORT_FILE: / });
});

test('a setting with value and file is refused', () => {
  assert.throws(() => loadConfig({ PORT: '1', PORT_FILE: '/run/port' }, () => '1'), {
    message: /PORT: must not be set together with PORT_FILE/,
  });
});

test('DATABASE_URL requires a secret key', () => {
  assert.throws(() => loadConfig({ DATABASE_URL: 'postgres://localhost/askback' }, noFile), {
    message: /ASKBACK_SECRET_KEY: is required/,
  });
});

const primary = 'postgres://ann@db.test/askback';
const replica = 'postgres://ann@replica.test/askback';
const refusals: Readonly<Record<string, [environment: Record<string, string>, sentence: string]>> =
  {
    'an address for sessions alone': [
      { ASKBACK_SESSION_DATABASE_URL: primary },
      'DATABASE_URL: is required when ASKBACK_SESSION_DATABASE_URL is set',
    ],
    'a replica without its primary': [
      { ASKBACK_READ_DATABASE_URL: replica },
      'DATABASE_URL: is required when ASKBACK_READ_DATABASE_URL is set',
    ],
    'the primary as its own replica': [
      { DATABASE_URL: primary, ASKBACK_READ_DATABASE_URL: primary },
      'ASKBACK_READ_DATABASE_URL: must be a replica, not the primary',
    ],
    'several replicas': [
      {
        DATABASE_URL: primary,
        ASKBACK_READ_DATABASE_URL: 'postgres://ann@one.test,two.test/askback',
      },
      'ASKBACK_READ_DATABASE_URL: must be one replica, not several hosts',
    ],
  };
for (const [what, [environment, sentence]] of Object.entries(refusals)) {
  test(`${what}: refused by the name of the setting`, () => {
    const ASKBACK_SECRET_KEY = Buffer.alloc(32).toString('base64');
    assert.deepEqual(complaintsOf({ ...environment, ASKBACK_SECRET_KEY }), [sentence]);
  });
}

test('an invalid DKIM key is reported', () => {
  const dkim = { ASKBACK_DKIM_DOMAIN: 'acme.test', ASKBACK_DKIM_SELECTOR: 's1' };
  const { privateKey } = generateKeyPairSync('ed25519');
  const ed25519 = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  for (const [key, complaint] of [
    ['nonsense', /^ASKBACK_DKIM_KEY: the DKIM key is not a private key in PEM form$/],
    [ed25519, /^ASKBACK_DKIM_KEY: the DKIM key is ed25519; it must be RSA/],
  ] as const) {
    const [complained, ...others] = complaintsOf({ ...dkim, ASKBACK_DKIM_KEY: key });
    assert.match(complained ?? '', complaint);
    assert.deepEqual(others, []);
  }
});

function complaintsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig(environment, noFile);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.complaints;
  }
}

const values: [value: unknown, text: string][] = [
  [null, '(not set)'],
  ['', '(not set)'],
  [[], '(not set)'],
  [0, '0'],
  [false, 'false'],
  [['one'], 'one'],
  [['one', 'two'], 'one,two'],
  [{ host: '127.0.0.1', port: 8080 }, '127.0.0.1:8080'],
  [{ host: '::1', port: 8080 }, '[::1]:8080'],
  [{ group: 'askback', role: 'owner' }, 'askback:owner'],
  [{ name: 'Ann', address: 'ann@acme.test' }, 'Ann <ann@acme.test>'],
];
for (const [value, text] of values) {
  test(`formatSetting writes ${JSON.stringify(value)} as ${text}`, () => {
    assert.equal(formatSetting(value), text);
  });
}
