declare module 'mailauth/lib/tools.js' {
  /** Reads a DKIM key record (RFC 6376), and throws an error that says why a verifier would ignore it. */
  export function getPublicKey(
    type: 'DKIM',
    name: string,
    minBits: number,
    resolver: (name: string, type: string) => Promise<string[]>,
    options: { strict: boolean; hashAlgo: string },
  ): Promise<{ publicKey: string; modulusLength: number; testing: boolean }>;
}
