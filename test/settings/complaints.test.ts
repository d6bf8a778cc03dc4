import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigError, loadConfig } from '../../src/settings.ts';

const primary = 'postgres://ann@db.test/askback';
const noFile = () => {
  throw new Error('no such file');
};

/** Many mistakes at once, and what is said of them, line by line. */
const environments: [what: string, environment: Record<string, string>, said: readonly string[]][] =
  [
    [
      'with a database',
      {
        PORT: '1',
        PORT_FILE: '/run/port',
        ASKBACK_METRICS_TOKEN_FILE: '/nowhere',
        LOG_LEVEL: 'loud',
        ASKBACK_DRAIN_SECONDS: '11',
        ASKBACK_ROLE: 'web',
        DATABASE_URL: primary,
        ASKBACK_READ_DATABASE_URL: primary,
        LISTEN_FDS: '1',
        ASKBACK_DKIM_DOMAIN: 'acme.test',
        ASKBACK_AI_URL: 'https://ai.test',
        ASKBACK_OIDC_ISSUER: 'https://accounts.google.com',
        ASKBACK_OIDC_ROLE: 'viewer',
        OTEL_CONFIG_FILE: '/x',
        OTEL_EXPORTER_OTLP_HEADERS_FILE: '/nowhere',
        OTEL_TRACES_EXPORTER: 'otlp',
        OTEL_LOG_LEVEL: 'loud',
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_EXPORTER_OTLP_CERTIFICATE: '/no.pem',
      },
      [
        'PORT: is given twice, also as PORT_FILE',
        'ASKBACK_METRICS_TOKEN_FILE: cannot be read: no such file',
        'ASKBACK_DRAIN_SECONDS: must be at most 10',
        'LOG_LEVEL: must be fatal, error, warn, info, debug or trace',
        'ASKBACK_SECRET_KEY: is required once DATABASE_URL is set',
        'ASKBACK_READ_DATABASE_URL: must name a replica, and not the address of DATABASE_URL',
        'ASKBACK_PUBLIC_URL: is required for the role web: links in mails begin with it',
        'ASKBACK_DKIM_SELECTOR, ASKBACK_DKIM_KEY: required for DKIM with the others',
        'ASKBACK_AI_MODEL: is required once ASKBACK_AI_URL is set',
        'LISTEN_PID: is required once LISTEN_FDS is set',
        'ASKBACK_OIDC_CLIENT_ID, ASKBACK_OIDC_CLIENT_SECRET: required for OpenID Connect with the others',
        'ASKBACK_OIDC_DOMAINS: is required with ASKBACK_OIDC_ROLE at accounts.google.com, where anybody has an account',
        'OTEL_EXPORTER_OTLP_HEADERS_FILE: cannot be read: no such file',
        'OTEL_CONFIG_FILE: is not read by askback: set the other OTEL_ variables instead',
        'OTEL_LOG_LEVEL: must be a level such as info',
        'OTEL_TRACES_SAMPLER_ARG: is required by this OTEL_TRACES_SAMPLER, from 0 to 1',
        'OTEL_EXPORTER_OTLP_CERTIFICATE: cannot be read: no such file',
      ],
    ],
    [
      'without a database',
      {
        ASKBACK_SESSION_DATABASE_URL: primary,
        ASKBACK_READ_DATABASE_URL: primary,
        ASKBACK_ROLE: 'jobs',
        ASKBACK_AI_URL: 'https://ai.test',
        LISTEN_FDS: '1',
        ASKBACK_DKIM_DOMAIN: 'acme.test',
        ASKBACK_DKIM_SELECTOR: 's1',
        ASKBACK_DKIM_KEY: 'nonsense',
        ASKBACK_PASSWORD_SIGN_IN: 'off',
        ASKBACK_OIDC_ROLE: 'viewer',
        ASKBACK_OIDC_NAME: 'Acme',
      },
      [
        'ASKBACK_SESSION_DATABASE_URL: goes with DATABASE_URL, which is not set',
        'ASKBACK_READ_DATABASE_URL: goes with DATABASE_URL, which is not set',
        'DATABASE_URL: is required for the role jobs: the embedded Postgres is for one process',
        'ASKBACK_PUBLIC_URL: is required for the role jobs: links in mails begin with it',
        'ASKBACK_DKIM_KEY: the DKIM key is not a private key in PEM form',
        'ASKBACK_AI_MODEL: is required once ASKBACK_AI_URL is set',
        'LISTEN_PID: is required once LISTEN_FDS is set',
        'ASKBACK_OIDC_NAME, ASKBACK_OIDC_ROLE: needs ASKBACK_OIDC_ISSUER, ASKBACK_OIDC_CLIENT_ID, ASKBACK_OIDC_CLIENT_SECRET as well',
        'ASKBACK_PASSWORD_SIGN_IN: may be off only with ASKBACK_OIDC_ISSUER: nothing else would be left to sign in with',
      ],
    ],
  ];

for (const [what, environment, said] of environments) {
  test(`${what}, mistakes are said in the order in which settings are read, then what contradicts`, () => {
    assert.throws(
      () => loadConfig(environment, noFile),
      ({ complaints }: ConfigError) => assert.deepEqual(complaints, said) === undefined,
    );
  });
}
