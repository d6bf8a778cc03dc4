import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

type CreateOptions = { challenge: string; user: { id: string }; rp: { id?: string } };
type GetOptions = { challenge: string; rpId?: string };

type Spoiled = {
  origin?: string;
  rpId?: string;
  /** A fingerprint or PIN was checked. */
  userVerified?: boolean;
  counter?: number;
  type?: string;
};

/** A software authenticator that counts its uses and formats responses like a browser. */
export function createAuthenticator(origin: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(32).toString('base64url');
  const { x, y } = publicKey.export({ format: 'jwk' });
  let counter = 0;
  let userHandle = '';

  const authData = (
    rpId: string,
    { userVerified = true, counter: shown }: Spoiled,
    more: Buffer,
  ) => {
    const flags = 0x01 | (userVerified ? 0x04 : 0) | (more.length > 0 ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(shown ?? counter);
    return Buffer.concat([sha256(rpId), Buffer.of(flags), count, more]);
  };

  const clientData = (type: string, challenge: string, spoiled: Spoiled) =>
    Buffer.from(
      JSON.stringify({
        type: spoiled.type ?? type,
        challenge,
        origin: spoiled.origin ?? origin,
        crossOrigin: false,
      }),
    );

  /** Creates a passkey, like `navigator.credentials.create`. */
  function create(options: CreateOptions, spoiled: Spoiled = {}) {
    counter += 1;
    userHandle = options.user.id;
    const rawId = Buffer.from(id, 'base64url');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(rawId.length);
    const key = cbor(
      new Map<number, CborValue>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x!, 'base64url')],
        [-3, Buffer.from(y!, 'base64url')],
      ]),
    );
    const attested = Buffer.concat([Buffer.alloc(16), length, rawId, key]);
    const rpId = spoiled.rpId ?? options.rp.id ?? '';
    const attestation = cbor(
      new Map<string, CborValue>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData(rpId, spoiled, attested)],
      ]),
    );
    return JSON.stringify({
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientData('webauthn.create', options.challenge, spoiled).toString(
          'base64url',
        ),
        attestationObject: attestation.toString('base64url'),
        transports: ['usb'],
      },
    });
  }

  /** Answers a challenge, like `navigator.credentials.get`. */
  function get(options: GetOptions, spoiled: Spoiled & { userHandle?: string } = {}) {
    counter += 1;
    const data = authData(spoiled.rpId ?? options.rpId ?? '', spoiled, Buffer.alloc(0));
    const client = clientData('webauthn.get', options.challenge, spoiled);
    const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey);
    return JSON.stringify({
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: spoiled.userHandle ?? userHandle,
      },
    });
  }

  return { id, create, get };
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();

type CborValue = number | string | Buffer | Map<number | string, CborValue>;

/** The subset of CBOR (RFC 8949) that passkeys need. */
function cbor(value: CborValue): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const entries = [...value].flatMap(([key, each]) => [cbor(key), cbor(each)]);
  return Buffer.concat([head(5, value.size), ...entries]);
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.of((major << 5) | length);
  if (length < 256) return Buffer.of((major << 5) | 24, length);
  return Buffer.of((major << 5) | 25, length >> 8, length & 0xff);
}
