import * as v from 'valibot';

/** The person, as the provider describes it. */
export type OidcIdentity = {
  issuer: string;
  /** The person's id at the provider, which stays when the address changes. */
  subject: string;
  email: string | null;
  /** Whether the provider vouches that the person has this address. */
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
