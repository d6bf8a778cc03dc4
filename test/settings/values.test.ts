import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { loadConfig, Settings } from '../../src/settings.ts';

const noFile = () => {
  throw new Error('no such file');
};
const secret = Buffer.alloc(32, 7);
const issuer = 'https://login.acme.test';

const everything = {
  DATABASE_URL: 'postgres://ann@db.test/askback',
  ASKBACK_SESSION_DATABASE_URL: 'postgres://ann@direct.test/askback',
  ASKBACK_PREPARED: 'off',
  ASKBACK_READ_DATABASE_URL: 'postgres://ann@replica.test/askback',
  ASKBACK_READ_MAX_LAG_SECONDS: '6',
  ASKBACK_ROLE: 'web',
  ASKBACK_DATABASE_WAIT_SECONDS: '31',
  ASKBACK_DB_POOL: '9',
  ASKBACK_DB_PROCESSORS: '3',
  ASKBACK_DATA_DIR: '/var/lib/askback',
  ASKBACK_POSTGRES_DIR: '/usr/lib/postgresql/18',
  ASKBACK_ERASURES_FILE: '/var/lib/erasures.jsonl',
  HOST: '0.0.0.0',
  PORT: '80',
  ASKBACK_DRAIN_SECONDS: '4',
  ASKBACK_PUBLIC_URL: 'https://Feedback.acme.test/',
  ASKBACK_SMTP_URL: 'smtp://mail.acme.test',
  ASKBACK_MAIL_FROM: '"Acme" <feedback@acme.test>',
  ASKBACK_BOUNCE_DOMAIN: 'bounces.acme.test',
  ASKBACK_SECRET_KEY: secret.toString('base64'),
  ASKBACK_PREVIOUS_SECRET_KEY: Buffer.alloc(32, 8).toString('base64'),
  ASKBACK_SERVICE_NAME: 'Acme',
  ASKBACK_WEBHOOK_ALLOW: '10.0.0.0/8, fd00::/8',
  ASKBACK_WEBHOOK_HTTP: 'allow',
  ASKBACK_RATE_LIMIT: '101',
  ASKBACK_MAX_CONTACTS: '1001',
  ASKBACK_SEND_DEADLINE_SECONDS: '61',
  ASKBACK_AI_URL: 'https://ai.acme.test/v1',
  ASKBACK_AI_KEY: 'key',
  ASKBACK_AI_MODEL: 'small',
  ASKBACK_PASSWORD_SIGN_IN: 'off',
  ASKBACK_OIDC_ISSUER: issuer,
  ASKBACK_OIDC_CLIENT_ID: 'askback',
  ASKBACK_OIDC_CLIENT_SECRET: 'hidden',
  ASKBACK_OIDC_NAME: 'Acme login',
  ASKBACK_OIDC_DOMAINS: 'acme.test',
  ASKBACK_OIDC_ORGANIZATION: 'acme',
  ASKBACK_OIDC_ROLE: 'viewer',
  ASKBACK_OIDC_GROUPS: 'managers:owner',
  ASKBACK_TRUSTED_PROXIES: '192.0.2.0/24',
  ASKBACK_SECURITY_CONTACT: 'mailto:security@acme.test',
  ASKBACK_UPDATE_URL: 'https://updates.acme.test/latest.json',
  ASKBACK_TRACE_URL: 'https://traces.acme.test/{trace_id}',
  ASKBACK_METRICS_TOKEN: 'token',
  ASKBACK_METRICS_LISTEN: '[::1]:9464',
  LOG_LEVEL: 'debug',
  LISTEN_FDS: '2',
  LISTEN_PID: '17',
  LISTEN_FDNAMES: 'web:metrics',
  NOTIFY_SOCKET: '/run/notify',
  WATCHDOG_USEC: '30000000',
  WATCHDOG_PID: '18',
};

test('every setting has its field', () => {
  const { settings, telemetry, ...config } = loadConfig(everything, noFile);
  assert.deepEqual(telemetry, { traces: false, metrics: false, fromFiles: {} });
  assert.equal(settings.PORT, 80);
  assert.deepEqual(config, {
    databaseUrl: 'postgres://ann@db.test/askback',
    sessionDatabaseUrl: 'postgres://ann@direct.test/askback',
    preparedStatements: false,
    readDatabaseUrl: 'postgres://ann@replica.test/askback',
    readMaxLagSeconds: 6,
    role: 'web',
    databaseConnections: 9,
    databaseProcessors: 3,
    databaseWaitSeconds: 31,
    dataDir: '/var/lib/askback',
    postgresDir: '/usr/lib/postgresql/18',
    erasuresFile: '/var/lib/erasures.jsonl',
    host: '0.0.0.0',
    port: 80,
    drainSeconds: 4,
    publicUrl: 'https://feedback.acme.test',
    smtpUrl: 'smtp://mail.acme.test',
    mailFrom: { name: 'Acme', address: 'feedback@acme.test' },
    bounceDomain: 'bounces.acme.test',
    dkim: null,
    secretKey: secret,
    previousSecretKey: Buffer.alloc(32, 8),
    serviceName: 'Acme',
    webhooks: { allow: ['10.0.0.0/8', 'fd00::/8'], http: true },
    rateLimit: 101,
    maxContacts: 1001,
    sendDeadlineSeconds: 61,
    ai: { url: 'https://ai.acme.test/v1', key: 'key', model: 'small' },
    signIn: {
      byPassword: false,
      oidc: {
        issuer,
        clientId: 'askback',
        clientSecret: 'hidden',
        name: 'Acme login',
        domains: ['acme.test'],
        organization: 'acme',
        role: 'viewer',
        groups: [{ group: 'managers', role: 'owner' }],
      },
    },
    trustedProxies: ['192.0.2.0/24'],
    securityContact: 'mailto:security@acme.test',
    updateUrl: 'https://updates.acme.test/latest.json',
    traceUrl: 'https://traces.acme.test/{trace_id}',
    metrics: { token: 'token', listen: { host: '::1', port: 9464 } },
    logLevel: 'debug',
    sockets: { count: 2, pid: 17, names: ['web', 'metrics'] },
    manager: { notifySocket: '/run/notify', watchdogMs: 30_000, watchdogPid: 18 },
  });
});

const edges: [name: keyof typeof Settings.entries, lowest: number, highest: number][] = [
  ['ASKBACK_READ_MAX_LAG_SECONDS', 1, 3600],
  ['ASKBACK_DATABASE_WAIT_SECONDS', 0, 3600],
  ['ASKBACK_DB_POOL', 2, 500],
  ['ASKBACK_DB_PROCESSORS', 1, 1000],
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
