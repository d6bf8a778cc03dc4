declare module 'mailauth/lib/tools.js' {
  export function getPublicKey(
    type: 'DKIM',
    name: string,
    minBits: number,
    resolver: (name: string, type: string) => Promise<string[]>,
    options: { strict: boolean; hashAlgo: string },
  ): Promise<{ publicKey: string; modulusLength: number; testing: boolean }>;
}
