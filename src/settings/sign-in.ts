import * as v from 'valibot';
import { mailableAddress } from '../lib/smtp/address.ts';
import { address, text } from './validators.ts';

// How members sign in: by password unless it is switched off, and by an OpenID provider if one is named.

const roles = ['viewer', 'editor', 'owner'] as const;
type Role = (typeof roles)[number];

export type OidcSettings = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** What the button says. */
  name: string;
  /** Of the addresses that may come in; empty for all of the provider. */
  domains: readonly string[];
  /** The organization that newcomers join, by id or slug; null for the only one. */
  organization: string | null;
  /** Of newcomers without a group; null if they need an invitation. */
  role: Role | null;
  groups: readonly OidcGroup[];
};

export type OidcGroup = { group: string; role: Role };

const role = v.picklist(roles, 'must be viewer, editor or owner');

/** Without encryption the provider's answers could be forged, except on this machine. */
const issuer = v.pipe(
  address('https:', 'http:'),
  v.check((given) => {
    const url = URL.parse(given);
    if (!url) return true; // reported already
    return (
      url.protocol === 'https:' || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)
    );
  }, 'must begin with https://, except for a provider on this machine'),
  v.check((given) => {
    const url = URL.parse(given);
    return !url || (url.search === '' && url.hash === '' && url.username === '');
  }, 'must be an address without query, such as https://login.example.com/realms/acme'),
);

const listed = (separator: RegExp) =>
  v.pipe(
    v.string(),
    v.transform((given) => given.split(separator).map((each) => each.trim())),
    v.transform((each) => each.filter((item) => item !== '')),
  );

const domains = v.pipe(
  listed(/[\s,]+/),
  v.everyItem(
    (name) => mailableAddress(`member@${name}`) !== undefined,
    'must be a list of domain names such as example.com, example.org',
  ),
  v.transform((names) => names.map(asciiDomain)),
);

/** As addresses are compared: in lower case, and an international domain in its ASCII form. */
function asciiDomain(name: string): string {
  const address = mailableAddress(`member@${name}`) ?? name;
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

/** The last colon separates, because names of groups may have some. */
const groups = v.pipe(
  listed(/[,\n]/),
  v.everyItem(
    (pair) => /^.+:\s*(viewer|editor|owner)$/.test(pair),
    'must be a list of group:role such as feedback-team:editor, with the roles viewer, editor and owner',
  ),
  v.transform((pairs) =>
    pairs.map((pair): OidcGroup => {
      const at = pair.lastIndexOf(':');
      return { group: pair.slice(0, at).trim(), role: pair.slice(at + 1).trim() as Role };
    }),
  ),
);

export const signInSettings = {
  ASKBACK_PASSWORD_SIGN_IN: v.optional(v.picklist(['on', 'off'], 'must be on or off'), 'on'),
  ASKBACK_OIDC_ISSUER: v.optional(issuer),
  ASKBACK_OIDC_CLIENT_ID: v.optional(text),
  ASKBACK_OIDC_CLIENT_SECRET: v.optional(text),
  ASKBACK_OIDC_NAME: v.optional(text),
  ASKBACK_OIDC_DOMAINS: v.optional(domains, ''),
  ASKBACK_OIDC_ORGANIZATION: v.optional(text),
  ASKBACK_OIDC_ROLE: v.optional(role),
  ASKBACK_OIDC_GROUPS: v.optional(groups, ''),
};

const together = ['ASKBACK_OIDC_ISSUER', 'ASKBACK_OIDC_CLIENT_ID', 'ASKBACK_OIDC_CLIENT_SECRET'];
const further = ['NAME', 'DOMAINS', 'ORGANIZATION', 'ROLE', 'GROUPS'].map(
  (name) => `ASKBACK_OIDC_${name}`,
);
/** Providers at which anybody has an account. */
const publicProviders = ['accounts.google.com', 'appleid.apple.com', 'gitlab.com'];

/** Mistakes that no setting of the sign-in shows by itself. */
export function signInContradictions(values: Readonly<Record<string, string>>): string[] {
  const given = (name: string) => values[name] !== undefined;
  const complaints: string[] = [];
  const missing = together.filter((name) => !given(name));
  if (missing.length > 0 && missing.length < together.length) {
    complaints.push(`${missing.join(', ')}: required for OpenID Connect with the others`);
  }
  if (missing.length === together.length) {
    const idle = further.filter(given);
    if (idle.length > 0)
      complaints.push(`${idle.join(', ')}: needs ${together.join(', ')} as well`);
    if (values['ASKBACK_PASSWORD_SIGN_IN'] === 'off') {
      complaints.push(
        'ASKBACK_PASSWORD_SIGN_IN: may be off only with ASKBACK_OIDC_ISSUER: nothing else would be left to sign in with',
      );
    }
  }
  return [...complaints, ...openToAll(values)];
}

/** A role for every newcomer of a provider that anybody can join would let anybody in. */
function openToAll(values: Readonly<Record<string, string>>): string[] {
  const host = URL.parse(values['ASKBACK_OIDC_ISSUER'] ?? '')?.hostname ?? '';
  const isLimited = !values['ASKBACK_OIDC_ROLE'] || values['ASKBACK_OIDC_DOMAINS'];
  if (isLimited || !publicProviders.includes(host)) return [];
  return [
    `ASKBACK_OIDC_DOMAINS: is required with ASKBACK_OIDC_ROLE at ${host}, where anybody has an account`,
  ];
}

export type SignInSettings = ReturnType<typeof shapeSignIn>;

export function shapeSignIn(
  settings: v.InferOutput<v.ObjectSchema<typeof signInSettings, undefined>>,
) {
  const issuer = settings.ASKBACK_OIDC_ISSUER;
  const oidc: OidcSettings | null = issuer
    ? {
        issuer,
        clientId: settings.ASKBACK_OIDC_CLIENT_ID ?? '',
        clientSecret: settings.ASKBACK_OIDC_CLIENT_SECRET ?? '',
        name: settings.ASKBACK_OIDC_NAME ?? new URL(issuer).host,
        domains: settings.ASKBACK_OIDC_DOMAINS,
        organization: settings.ASKBACK_OIDC_ORGANIZATION ?? null,
        role: settings.ASKBACK_OIDC_ROLE ?? null,
        groups: settings.ASKBACK_OIDC_GROUPS,
      }
    : null;
  return { byPassword: settings.ASKBACK_PASSWORD_SIGN_IN === 'on', oidc };
}
