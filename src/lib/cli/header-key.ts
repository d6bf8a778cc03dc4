/** Header names are compared without case, spaces and punctuation: `Created At` is `createdat`. */
export const headerKey = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
