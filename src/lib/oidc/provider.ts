import * as client from 'openid-client';
import * as v from 'valibot';

type OidcProviderOptions = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  redirectUri: string;
};

/** Seal these values for the browser until it returns from the provider. */
export type OidcFlow = { state: string; nonce: string; verifier: string };

export type OidcProvider = ReturnType<typeof createOidcProvider>;

/** `why` is an error code for the log, without secrets and personal data. */
export type OidcFailure = { failed: 'unreachable' | 'cancelled' | 'refused'; why: string };

const timeoutSeconds = 5;
const cacheMs = 60 * 60 * 1000;
/** If discovery fails, the cached document is used this long before the next try. */
const retryAfterMs = 2000;

/**
 * The authorization code flow with PKCE, state and nonce. Reads the discovery document at the first sign-in and caches
 * it for an hour. Tries client_secret_basic and client_secret_post, because some providers announce both but accept one.
 */
export function createOidcProvider({
  issuer,
  clientId,
  clientSecret,
  redirectUri,
}: OidcProviderOptions) {
  let cache: { configuration: client.Configuration; until: number } | undefined;
  let discovery: Promise<client.Configuration> | undefined;
  let usesOtherMethod = false;
  const [basic, post] = [
    client.ClientSecretBasic(clientSecret),
    client.ClientSecretPost(clientSecret),
  ];

  const authenticate: client.ClientAuth = (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported;
    const isBasic = !methods || methods.includes('client_secret_basic');
    return (isBasic !== usesOtherMethod ? basic : post)(server, ...rest);
  };

  async function discover() {
    const server = new URL(issuer);
    const execute = [client.enableNonRepudiationChecks];
    if (server.protocol === 'http:') execute.push(client.allowInsecureRequests);
    const options = { timeout: timeoutSeconds, execute };
    return await client.discovery(server, clientId, clientSecret, authenticate, options);
  }

  async function configuration(): Promise<client.Configuration> {
    if (cache && performance.now() < cache.until) return cache.configuration;
    discovery ??= discover().finally(() => {
      discovery = undefined;
    });
    try {
      cache = { configuration: await discovery, until: performance.now() + cacheMs };
    } catch (error) {
      if (!cache) throw error;
      cache.until = performance.now() + retryAfterMs;
    }
    return cache.configuration;
  }

  /** Returns the URL for the browser. With `fresh`, the provider must ask for the credentials again. */
  async function start({
    fresh = false,
    groups = false,
  } = {}): Promise<{ url: string; flow: OidcFlow } | OidcFailure> {
    try {
      const provider = await configuration();
      const flow = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      // Some providers return groups only on request. Others reject an unsupported scope.
      const hasGroups = provider.serverMetadata().scopes_supported?.includes('groups');
      const url = client.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: groups && hasGroups ? 'openid email profile groups' : 'openid email profile',
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: 'S256',
        ...(fresh && { prompt: 'login', max_age: '0' }),
      });
      return { url: url.href, flow };
    } catch (error) {
      return failureOf(error);
    }
  }

  /** Verifies the response and returns the identity. */
  async function finish(
    query: URLSearchParams,
    flow: OidcFlow,
  ): Promise<{ identity: OidcIdentity } | OidcFailure> {
    try {
      const provider = await configuration();
      const returned = new URL(redirectUri);
      returned.search = query.toString();
      const exchange = () =>
        client.authorizationCodeGrant(provider, returned, {
          expectedState: flow.state,
          expectedNonce: flow.nonce,
          pkceCodeVerifier: flow.verifier,
          idTokenExpected: true,
        });
      const tokens = await exchange().catch((error: unknown) => {
        if (errorCodeOf(error) !== 'invalid_client') throw error;
        usesOtherMethod = !usesOtherMethod;
        return exchange();
      });
      const claims = tokens.claims()!;
      // Some providers put only a few claims into the token.
      const isComplete = claims['email'] !== undefined && claims['groups'] !== undefined;
      const more =
        isComplete || !provider.serverMetadata().userinfo_endpoint
          ? {}
          : await client.fetchUserInfo(provider, tokens.access_token, claims.sub);
      return { identity: readIdentity({ ...more, ...claims }) };
    } catch (error) {
      return failureOf(error);
    }
  }

  return { start, finish };
}

const unreachableCodes = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
]);

function failureOf(error: unknown): OidcFailure {
  if (error instanceof client.AuthorizationResponseError) {
    const failed = error.error === 'access_denied' ? 'cancelled' : 'refused';
    return { failed, why: codeForLog(error.error) };
  }
  const refused = errorCodeOf(error);
  if (refused !== undefined) return { failed: 'refused', why: codeForLog(refused) };
  const { code, message, cause } = error as {
    code?: string;
    message?: string;
    cause?: { code?: string };
  };
  const isUnreachable = message === 'fetch failed' || unreachableCodes.has(code ?? '');
  const failed = isUnreachable ? 'unreachable' : 'refused';
  return { failed, why: codeForLog(code ?? cause?.code ?? '') };
}

/** The provider's error code, from the body or, with a 401, from the header. */
function errorCodeOf(error: unknown): string | undefined {
  if (error instanceof client.ResponseBodyError) return error.error;
  if (!(error instanceof client.WWWAuthenticateChallengeError)) return undefined;
  return (
    error.cause.find(({ parameters }) => parameters['error'])?.parameters['error'] ??
    'invalid_client'
  );
}

/** Logs only codes of the protocol, because other text may contain secrets. */
const codeForLog = (code: unknown) => (/^\w{1,64}$/.test(String(code)) ? String(code) : 'unknown');

export type OidcIdentity = {
  issuer: string;
  /** The person's permanent id at the provider. */
  subject: string;
  email: string | null;
  isEmailVerified: boolean;
  name: string | null;
  groups: readonly string[];
  /** Time of the last login at the provider, if known. */
  authenticatedAt: Date | null;
};

const optional = <S extends v.GenericSchema>(schema: S) => v.fallback(v.nullish(schema), null);

const Claims = v.object({
  iss: v.string(),
  sub: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
  email: optional(v.string()),
  email_verified: optional(v.unknown()),
  xms_edov: optional(v.unknown()),
  name: optional(v.string()),
  given_name: optional(v.string()),
  family_name: optional(v.string()),
  groups: optional(v.union([v.array(v.unknown()), v.string()])),
  auth_time: optional(v.number()),
});

/** Claims that do not have their standard type count as absent. */
export function readIdentity(claims: unknown): OidcIdentity {
  const valid = v.parse(Claims, claims);
  const parts = [valid.given_name, valid.family_name].filter((part) => part);
  const groups = [valid.groups ?? []].flat();
  return {
    issuer: valid.iss,
    subject: valid.sub,
    email: valid.email?.trim() || null,
    isEmailVerified: isTrue(valid.email_verified) || isVerifiedDomain(valid),
    name: valid.name?.trim() || parts.join(' ').trim() || null,
    groups: groups.filter((group) => typeof group === 'string'),
    authenticatedAt: valid.auth_time ? new Date(valid.auth_time * 1000) : null,
  };
}

/** Entra ID uses its own claim instead of `email_verified`: the owner of the domain vouches for the address. */
const isVerifiedDomain = (claims: v.InferOutput<typeof Claims>) =>
  (claims.email_verified ?? null) === null && isTrue(claims.xms_edov);

/** Some providers send booleans as strings or numbers. */
const isTrue = (claim: unknown) => [true, 'true', 1, '1'].includes(claim as string);
