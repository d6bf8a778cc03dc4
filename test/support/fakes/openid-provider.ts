import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type AccountClaims,
  type Adapter,
  type AdapterPayload,
  type ClientMetadata,
  Provider,
} from 'oidc-provider';

export type ProviderAccount = AccountClaims & {
  email?: string;
  email_verified?: boolean;
  groups?: string[];
};

type ProviderOptions = {
  redirectUri: string;
  /** Path of the issuer, such as a tenant's id. */
  path?: string;
  client?: Partial<ClientMetadata>;
  /** Puts claims into the token too, not only into the response of the userinfo endpoint. */
  claimsInToken?: boolean;
};

export const clientId = 'askback';
export const clientSecret = 'secret-of-the-client-of-askback';

/**
 * A real OpenID provider on this machine. It signs `account` in without a prompt. `meanwhile` sees each request first
 * and can tamper with the response.
 */
export async function startOpenidProvider(options: ProviderOptions) {
  const listening = createServer();
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { path = '' } = options;
  const issuer = `http://127.0.0.1:${(listening.address() as AddressInfo).port}${path}`;
  const state = {
    account: { sub: 'ann', email: 'ann@acme.test', email_verified: true } as ProviderAccount,
    denies: false,
    requests: [] as string[],
    down: false,
  };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [options.redirectUri],
        ...options.client,
      },
    ],
    adapter: keepInMemory(),
    jwks: { keys: [signingKey()] },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified', 'xms_edov'],
      profile: [
        'name',
        'given_name',
        'family_name',
        'picture',
        'preferred_username',
        'oid',
        'tid',
        'hd',
      ],
      groups: ['groups'],
    },
    scopes: ['openid', 'email', 'profile', 'groups'],
    conformIdTokenClaims: !(options.claimsInToken ?? true),
    cookies: { keys: ['a key of the provider'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `${path}/interaction/${interaction.uid}` },
    pkce: { required: () => true },
    ttl: {
      Session: 600,
      Grant: 600,
      AccessToken: 600,
      AuthorizationCode: 60,
      IdToken: 600,
      Interaction: 600,
    },
    findAccount: () => ({ accountId: state.account.sub, claims: () => state.account }),
    async loadExistingGrant(context) {
      const grant = new context.oidc.provider.Grant({
        clientId: context.oidc.client!.clientId,
        accountId: context.oidc.session!.accountId!,
      });
      grant.addOIDCScope('openid email profile groups');
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  const signIn = async (request: IncomingMessage, response: ServerResponse) => {
    const result = state.denies
      ? { error: 'access_denied', error_description: 'the person pressed Cancel' }
      : { login: { accountId: state.account.sub } };
    await provider.interactionFinished(request, response, result, {
      mergeWithLastSubmission: false,
    });
  };
  listening.on('request', (request, response) => {
    state.requests.push(`${request.method} ${request.url?.split('?')[0]}`);
    mountAt(path, request);
    if (state.down) response.writeHead(502).end('bad gateway');
    else if (request.url?.startsWith('/interaction/')) void signIn(request, response);
    else void answer(request, response);
  });
  const close = async () => {
    listening.closeAllConnections();
    await new Promise((resolve) => listening.close(resolve));
  };
  return { issuer, state, close, [Symbol.asyncDispose]: close };
}

/** The provider derives its mount path from both URLs, as below a router of Koa. */
function mountAt(path: string, request: IncomingMessage) {
  const url = request.url ?? '';
  Object.assign(request, { originalUrl: url });
  if (url.startsWith(`${path}/`)) request.url = url.slice(path.length);
}

/** Follows the provider's redirects like a browser, and returns the URL to which it finally redirects. */
export async function passProvider(url: string, redirectUri: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let next = url;
  while (!next.startsWith(redirectUri)) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      cookies.set(pair.split('=')[0]!, pair.slice(pair.indexOf('=') + 1));
    }
    const location = response.headers.get('location');
    if (!location)
      throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
    next = new URL(location, next).href;
  }
  return new URL(next);
}

/** In-memory storage of the provider. */
function keepInMemory() {
  const kept = new Map<string, AdapterPayload>();
  return (model: string): Adapter => {
    const find = (matches: (payload: AdapterPayload) => boolean) =>
      Promise.resolve([...kept.values()].find(matches));
    return {
      async upsert(id, payload) {
        kept.set(`${model} ${id}`, payload);
      },
      find: async (id) => kept.get(`${model} ${id}`),
      findByUid: (uid) => find((payload) => payload.uid === uid),
      findByUserCode: (code) => find((payload) => payload.userCode === code),
      async consume(id) {
        const payload = kept.get(`${model} ${id}`);
        if (payload) payload.consumed = Math.floor(Date.now() / 1000);
      },
      async destroy(id) {
        kept.delete(`${model} ${id}`);
      },
      async revokeByGrantId(grantId) {
        for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key);
      },
    };
  };
}

function signingKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: 'signing', use: 'sig', alg: 'RS256' };
}
