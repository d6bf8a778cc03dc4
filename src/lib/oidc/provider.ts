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

/**
 * Reads the discovery document at the first sign-in, and caches it for an hour. Tries client_secret_basic and
 * client_secret_post: providers name both and expect one of them.
 */
export function createOidcProvider({
  issuer,
  clientId,
  clientSecret,
  redirectUri,
}: OidcProviderOptions) {
  let discovered: Discovered | undefined;
  let asking: Promise<client.Configuration> | undefined;
  let usesOtherWay = false;
  const [basic, post] = [
    client.ClientSecretBasic(clientSecret),
    client.ClientSecretPost(clientSecret),
  ];

  const authenticate: client.ClientAuth = (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported;
    const isBasic = !methods || methods.includes('client_secret_basic');
    return (isBasic !== usesOtherWay ? basic : post)(server, ...rest);
  };

  async function discover() {
    const server = new URL(issuer);
    const execute = [client.enableNonRepudiationChecks];
    if (server.protocol === 'http:') execute.push(client.allowInsecureRequests);
    const options = { timeout: answerLimitSeconds, execute };
    return await client.discovery(server, clientId, clientSecret, authenticate, options);
  }

  async function configuration(): Promise<client.Configuration> {
    if (discovered && performance.now() < discovered.until) return discovered.configuration;
    asking ??= discover().finally(() => {
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
      const provider = await configuration();
      const flow = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      // Some providers give groups only when asked, others refuse to be asked for what they do not have.
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

  /** The identity of the person who came back, checked by the provider's signature and by the browser's flow. */
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
        if (whyRefused(error) !== 'invalid_client') throw error;
        usesOtherWay = !usesOtherWay;
        return exchange();
      });
      const claims = tokens.claims()!;
      // Some providers put little into the token and the rest behind an address of its own.
      const isWhole = claims['email'] !== undefined && claims['groups'] !== undefined;
      const more =
        isWhole || !provider.serverMetadata().userinfo_endpoint
          ? {}
          : await client.fetchUserInfo(provider, tokens.access_token, claims.sub);
      return { identity: readIdentity({ ...more, ...claims }) };
    } catch (error) {
      return failureOf(error);
    }
  }

  return { start, finish };
}

const awayCodes = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
]);

function failureOf(error: unknown): OidcFailure {
  if (error instanceof client.AuthorizationResponseError) {
    const failed = error.error === 'access_denied' ? 'cancelled' : 'refused';
    return { failed, why: wordOf(error.error) };
  }
  const refused = whyRefused(error);
  if (refused !== undefined) return { failed: 'refused', why: wordOf(refused) };
  const { code, message, cause } = error as {
    code?: string;
    message?: string;
    cause?: { code?: string };
  };
  const isAway = message === 'fetch failed' || awayCodes.has(code ?? '');
  return { failed: isAway ? 'unreachable' : 'refused', why: wordOf(code ?? cause?.code ?? '') };
}

/** The error of the provider's answer, in the body or, with a 401, in the header. */
function whyRefused(error: unknown): string | undefined {
  if (error instanceof client.ResponseBodyError) return error.error;
  if (!(error instanceof client.WWWAuthenticateChallengeError)) return undefined;
  return (
    error.cause.find(({ parameters }) => parameters['error'])?.parameters['error'] ??
    'invalid_client'
  );
}

/** A code of the protocol; other text may hold a secret and is not logged. */
const wordOf = (code: unknown) => (/^\w{1,64}$/.test(String(code)) ? String(code) : 'unknown');

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
