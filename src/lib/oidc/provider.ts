import * as client from 'openid-client';
import * as v from 'valibot';

// Sign-in with an OpenID provider: discovery, and the authorization code flow with PKCE, state and nonce.

type OidcProviderOptions = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Where the provider sends the browser back to. */
  redirectUri: string;
};

/** To be sealed for this browser until it returns. */
export type OidcFlow = { state: string; nonce: string; verifier: string };

export type OidcProvider = ReturnType<typeof createOidcProvider>;

/** `why` is a word for the log: neither side's secret and no data of a person is in it. */
export type OidcFailure = { failed: 'unreachable' | 'cancelled' | 'refused'; why: string };

const answerLimitSeconds = 5;
const discoveredForMs = 60 * 60 * 1000;
/** How long the cached discovery document is used on after the provider has failed. */
const retryAfterMs = 2000;

type Discovered = { configuration: client.Configuration; until: number };

/** Reads the discovery document at the first sign-in, and caches it for an hour. */
export function createOidcProvider(options: OidcProviderOptions) {
  let discovered: Discovered | undefined;
  let asking: Promise<client.Configuration> | undefined;

  async function configuration(): Promise<client.Configuration> {
    if (discovered && performance.now() < discovered.until) return discovered.configuration;
    asking ??= discover(options).finally(() => {
      asking = undefined;
    });
    try {
      discovered = { configuration: await asking, until: performance.now() + discoveredForMs };
    } catch (error) {
      if (!discovered) throw error;
      discovered.until = performance.now() + retryAfterMs;
    }
    return discovered.configuration;
  }

  /** The address to send the browser to. With `fresh` the provider asks for a proof, whatever it remembers. */
  async function start({
    fresh = false,
    groups = false,
  } = {}): Promise<{ url: string; flow: OidcFlow } | OidcFailure> {
    try {
      const found = await configuration();
      const flow = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(found, {
        redirect_uri: options.redirectUri,
        scope: scopeFor(found, groups),
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

  /** The identity of the person who came back, checked by the provider's signature and by the browser's flow. */
  async function finish(
    query: URLSearchParams,
    flow: OidcFlow,
  ): Promise<{ identity: OidcIdentity } | OidcFailure> {
    try {
      const found = await configuration();
      const returned = new URL(options.redirectUri);
      returned.search = query.toString();
      const tokens = await exchange(found, returned, flow);
      const claims = tokens.claims()!;
      const more = await furtherClaims(found, tokens.access_token, claims);
      return { identity: readIdentity({ ...more, ...claims }) };
    } catch (error) {
      return failureOf(error);
    }
  }

  return { start, finish };
}

async function exchange(configuration: client.Configuration, returned: URL, flow: OidcFlow) {
  const checks = {
    expectedState: flow.state,
    expectedNonce: flow.nonce,
    pkceCodeVerifier: flow.verifier,
    idTokenExpected: true,
  };
  try {
    return await client.authorizationCodeGrant(configuration, returned, checks);
  } catch (error) {
    if (whyRefused(error) !== 'invalid_client') throw error;
    otherWay.get(configuration)!();
    return await client.authorizationCodeGrant(configuration, returned, checks);
  }
}

async function discover({ issuer, clientId, clientSecret }: OidcProviderOptions) {
  const server = new URL(issuer);
  const execute = [client.enableNonRepudiationChecks];
  if (server.protocol === 'http:') execute.push(client.allowInsecureRequests);
  const { authenticate, change } = twoWays(clientSecret);
  const found = await client.discovery(server, clientId, clientSecret, authenticate, {
    timeout: answerLimitSeconds,
    execute,
  });
  otherWay.set(found, change);
  return found;
}

const otherWay = new WeakMap<client.Configuration, () => void>();

/** Tries client_secret_basic and client_secret_post: `change` switches after `invalid_client`. */
function twoWays(secret: string) {
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  let isChanged = false;
  const authenticate: client.ClientAuth = (server, ...rest) => {
    const known = server.token_endpoint_auth_methods_supported;
    const isBasic = !known || known.includes('client_secret_basic');
    return (isBasic !== isChanged ? basic : post)(server, ...rest);
  };
  const change = () => {
    isChanged = !isChanged;
  };
  return { authenticate, change };
}

/** Some providers give groups only when asked, others refuse to be asked for what they do not have. */
function scopeFor(configuration: client.Configuration, groups: boolean): string {
  const has = configuration.serverMetadata().scopes_supported?.includes('groups');
  return groups && has ? 'openid email profile groups' : 'openid email profile';
}

/** Some providers put little into the token and the rest behind an address of its own. */
async function furtherClaims(
  configuration: client.Configuration,
  accessToken: string,
  claims: client.IDToken,
): Promise<Record<string, unknown>> {
  const isWhole = claims['email'] !== undefined && claims['groups'] !== undefined;
  if (isWhole || !configuration.serverMetadata().userinfo_endpoint) return {};
  return await client.fetchUserInfo(configuration, accessToken, claims.sub);
}

function failureOf(error: unknown): OidcFailure {
  if (error instanceof client.AuthorizationResponseError) {
    const failed = error.error === 'access_denied' ? 'cancelled' : 'refused';
    return { failed, why: wordOf(error.error) };
  }
  const refused = whyRefused(error);
  if (refused !== undefined) return { failed: 'refused', why: wordOf(refused) };
  const { code, message, cause } = error as { code?: unknown; message?: unknown; cause?: unknown };
  const isAway = message === 'fetch failed' || code === 'OAUTH_TIMEOUT';
  const isBroken =
    code === 'OAUTH_RESPONSE_IS_NOT_CONFORM' || code === 'OAUTH_RESPONSE_IS_NOT_JSON';
  const inner = (cause as { code?: unknown } | undefined)?.code;
  const why = [code, inner].find((word) => typeof word === 'string') ?? 'unknown';
  return { failed: isAway || isBroken ? 'unreachable' : 'refused', why: wordOf(String(why)) };
}

/** What the provider answered, in the body or, with a 401, in the header. */
function whyRefused(error: unknown): string | undefined {
  if (error instanceof client.ResponseBodyError) return error.error;
  if (!(error instanceof client.WWWAuthenticateChallengeError)) return undefined;
  return (
    error.cause.find(({ parameters }) => parameters['error'])?.parameters['error'] ??
    'invalid_client'
  );
}

/** A code of the protocol; anything else that stands in its place is not repeated. */
const wordOf = (code: string) => (/^\w{1,64}$/.test(code) ? code : 'unknown');

export type OidcIdentity = {
  issuer: string;
  /** The person's id at the provider, which stays when the address changes. */
  subject: string;
  email: string | null;
  /** The provider vouches that the person has this address. */
  isEmailVerified: boolean;
  name: string | null;
  groups: readonly string[];
  /** When the person last gave the provider a proof, if it says so. */
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

/** Claims as the identity that they describe. A claim of another form than the standard's counts as absent. */
export function readIdentity(claims: unknown): OidcIdentity {
  const read = v.parse(Claims, claims);
  const parts = [read.given_name, read.family_name].filter((part) => part);
  const groups = [read.groups ?? []].flat();
  return {
    issuer: read.iss,
    subject: read.sub,
    email: read.email?.trim() || null,
    isEmailVerified: isTrue(read.email_verified) || isVerifiedDomain(read),
    name: read.name?.trim() || parts.join(' ').trim() || null,
    groups: groups.filter((group) => typeof group === 'string'),
    authenticatedAt: read.auth_time ? new Date(read.auth_time * 1000) : null,
  };
}

/** Entra ID has no `email_verified`; its own claim says that the owner of the domain vouches for the address. */
const isVerifiedDomain = (read: v.InferOutput<typeof Claims>) =>
  (read.email_verified === null || read.email_verified === undefined) && isTrue(read.xms_edov);

/** Some providers write truth as a word or a number. */
const isTrue = (claim: unknown) => [true, 'true', 1, '1'].includes(claim as string);
