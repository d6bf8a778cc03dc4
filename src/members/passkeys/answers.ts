import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import * as v from 'valibot';

// What a browser says of a passkey, as `PublicKeyCredential.toJSON()` writes it.

const longest = 20_000;

const Base64Url = v.pipe(v.string(), v.regex(/^[\w-]*$/), v.maxLength(longest));

const credential = {
  id: Base64Url,
  rawId: Base64Url,
  type: v.literal('public-key'),
};

const Attestation = v.object({
  ...credential,
  response: v.object({
    clientDataJSON: Base64Url,
    attestationObject: Base64Url,
    transports: v.optional(v.array(v.pipe(v.string(), v.regex(/^[a-z-]{1,30}$/))), []),
  }),
});

const Answer = v.object({
  ...credential,
  response: v.object({
    clientDataJSON: Base64Url,
    authenticatorData: Base64Url,
    signature: Base64Url,
    userHandle: v.nullish(Base64Url),
  }),
});

export type PasskeyAttestation = RegistrationResponseJSON;
export type PasskeyAnswer = AuthenticationResponseJSON;

/** Undefined for what no browser writes. */
export function readAttestation(text: string): PasskeyAttestation | undefined {
  const read = readJson(Attestation, text);
  return read && { ...read, clientExtensionResults: {} };
}

export function readAnswer(text: string): PasskeyAnswer | undefined {
  const read = readJson(Answer, text);
  if (!read) return undefined;
  const { userHandle, ...response } = read.response;
  return {
    ...read,
    response: { ...response, ...(userHandle ? { userHandle } : {}) },
    clientExtensionResults: {},
  };
}

function readJson<const S extends v.GenericSchema>(
  schema: S,
  text: string,
): v.InferOutput<S> | undefined {
  try {
    const read = v.safeParse(schema, JSON.parse(text));
    return read.success ? read.output : undefined;
  } catch {
    return undefined;
  }
}
