import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { loadConfig, Settings } from '../../src/settings.ts';

const noFile = () => {
  throw new Error('no such file');
};
const issuer = 'https://login.acme.test';

const edges: [name: keyof typeof Settings.entries, lowest: number, highest: number][] = [
  ['ASKBACK_READ_MAX_LAG_SECONDS', 1, 3600],
  ['ASKBACK_DATABASE_WAIT_SECONDS', 0, 3600],
  ['ASKBACK_DB_POOL', 2, 500],
  ['PORT', 0, 65_535],
  ['ASKBACK_DRAIN_SECONDS', 0, 10],
  ['ASKBACK_RATE_LIMIT', 1, 1_000_000],
  ['ASKBACK_MAX_CONTACTS', 1, 100_000],
  ['ASKBACK_SEND_DEADLINE_SECONDS', 1, 3600],
  ['LISTEN_FDS', 0, 16],
  ['LISTEN_PID', 1, 4_194_304],
  ['WATCHDOG_USEC', 1, 86_400_000_000],
  ['WATCHDOG_PID', 1, 4_194_304],
];
const complaintsOf = (name: string, value: string) => {
  const read = v.safeParse(Settings, { [name]: value });
  return read.success ? [] : read.issues.map(({ message }) => message);
};

for (const [name, lowest, highest] of edges) {
  test(`${name} is a whole number from ${lowest} to ${highest}`, () => {
    assert.deepEqual(complaintsOf(name, String(lowest)), []);
    assert.deepEqual(complaintsOf(name, String(highest)), []);
    const tooLow = lowest === 0 ? 'must be a whole number' : `must be at least ${lowest}`;
    assert.deepEqual(complaintsOf(name, String(lowest - 1)), [tooLow]);
    assert.deepEqual(complaintsOf(name, String(highest + 1)), [`must be at most ${highest}`]);
    assert.deepEqual(complaintsOf(name, '1.5'), ['must be a whole number']);
    assert.deepEqual(complaintsOf(name, '9'.repeat(15)), [`must be at most ${highest}`]);
    assert.deepEqual(complaintsOf(name, '9'.repeat(16)).slice(0, 1), ['must be a whole number']);
  });
}

const long = (text: string, length: number) => text.padEnd(length, 'x');
const spellings: [
  name: string,
  taken: readonly string[],
  complaint: string,
  not: readonly string[],
][] = [
  [
    'LISTEN_FDNAMES',
    ['http', 'http:web'],
    'a socket cannot be for metrics: remove its unit and set ASKBACK_METRICS_LISTEN',
    ['metrics', 'http:metrics'],
  ],
  ['ASKBACK_ROLE', ['web', 'jobs'], 'must be web or jobs', ['both']],
  [
    'ASKBACK_PUBLIC_URL',
    ['http://acme.test', 'https://acme.test:8443/'],
    'must be a scheme and a host such as https://feedback.example.com, without path or query',
    ['https://acme.test/a', 'https://acme.test?a', 'https://acme.test#a', 'https://ann@acme.test'],
  ],
  [
    'ASKBACK_SECURITY_CONTACT',
    ['https://acme.test/security', 'mailto:a@acme.test'],
    'must be an address that begins with mailto: or https://',
    ['http://acme.test', 'a@acme.test'],
  ],
  ['ASKBACK_TRACE_URL', ['http://t.test/{trace_id}'], 'must contain {trace_id}', ['http://t.test']],
  [
    'ASKBACK_SECRET_KEY',
    [Buffer.alloc(32).toString('base64'), ` ${Buffer.alloc(32).toString('base64')}\n`],
    'must be base64 of 32 bytes, as `openssl rand -base64 32` prints',
    [31, 33].map((bytes) => Buffer.alloc(bytes).toString('base64')),
  ],
  [
    'ASKBACK_SERVICE_NAME',
    ['a', long('A', 64)],
    'must be one word that is valid in a header name',
    ['two words', long('A', 65), ''],
  ],
  [
    'ASKBACK_METRICS_TOKEN',
    ['!', '~'],
    'must be one word of visible ASCII characters',
    ['a b', 'ä', ''],
  ],
  [
    'ASKBACK_METRICS_LISTEN',
    ['a:0', '[::1]:65535'],
    'must be host:port',
    ['a', '::1:80', 'a:', 'a:123456'],
  ],
  ['ASKBACK_METRICS_LISTEN', ['127.0.0.1:9464'], 'port must be at most 65535', ['a:65536']],
  [
    'NOTIFY_SOCKET',
    [long('/', 107), '@a', `${long('/', 105)}ä`],
    'must be at most 107 bytes',
    [long('/', 108), `${long('/', 106)}ä`],
  ],
  ['NOTIFY_SOCKET', ['/a'], 'must be a path, or a name that begins with @', ['run/notify', '/']],
  ['ASKBACK_BOUNCE_DOMAIN', ['acme.test'], 'must be a domain name', ['acme', '@acme.test']],
  [
    'ASKBACK_DKIM_SELECTOR',
    ['a', `a${long('b', 62)}`, 'S1.a-b'],
    'must be the name of a DNS entry',
    ['-a', 'a-', `a${long('b', 63)}`, 'a_b'],
  ],
  [
    'ASKBACK_MAIL_FROM',
    ['a@acme.test', 'Acme <a@acme.test>', '<a@acme.test>'],
    'must be an address such as feedback@example.com, or Name <address>',
    ['Acme', 'A\r\nB <a@acme.test>', 'Acme <acme>'],
  ],
  ['ASKBACK_WEBHOOK_HTTP', ['refuse', 'allow'], 'must be refuse or allow', ['yes']],
  ['ASKBACK_PASSWORD_SIGN_IN', ['on', 'off'], 'must be on or off', ['true']],
  [
    'LOG_LEVEL',
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace'],
    'must be fatal, error, warn, info, debug or trace',
    ['silent'],
  ],
  [
    'ASKBACK_OIDC_ISSUER',
    ['https://a.test/b', 'http://localhost:1', 'http://[::1]:1'],
    'must begin with https://, except for a provider on this machine',
    ['http://127.0.0.1.acme.test'],
  ],
  [
    'ASKBACK_OIDC_ISSUER',
    [issuer],
    'must be an address without query, such as https://login.example.com/realms/acme',
    [`${issuer}#a`, 'https://ann@acme.test'],
  ],
  ['ASKBACK_DATA_DIR', ['.'], 'must not be empty', ['']],
];
for (const [name, taken, complaint, refused] of spellings) {
  test(`${name} ${complaint}`, () => {
    for (const value of taken) assert.deepEqual(complaintsOf(name, value), [], value);
    for (const value of refused) assert.deepEqual(complaintsOf(name, value), [complaint], value);
  });
}

test('the default sender name is askback', () => {
  for (const given of ['a@acme.test', ' <a@acme.test> ']) {
    const { mailFrom } = loadConfig({ ASKBACK_MAIL_FROM: given }, noFile);
    assert.deepEqual(mailFrom, { name: 'askback', address: 'a@acme.test' });
  }
});
