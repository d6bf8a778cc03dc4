import type { PictureHeader } from '../lib/pictures/picture-header.ts';

export const largestLogoBytes = 256 * 1024;

/** A small file can become a picture that fills the memory of the browser that opens it. */
export const largestLogoSide = 2000;
const smallestLogoSide = 16;

export const logoTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;

export const endings: Readonly<Record<PictureHeader['type'], string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
};

/** Why a file is no logo, in a sentence, or null. */
export function complainOfLogo(file: { size: number; header: PictureHeader | undefined }) {
  if (file.size > largestLogoBytes) return 'the logo must have at most 256 KiB';
  if (!file.header) return 'the logo must be a PNG, JPEG or WebP';
  const sides = [file.header.width, file.header.height];
  if (Math.max(...sides) > largestLogoSide) {
    return `the logo must be at most ${largestLogoSide} pixels wide and high`;
  }
  if (Math.min(...sides) < smallestLogoSide) {
    return `the logo must be at least ${smallestLogoSide} pixels wide and high`;
  }
  return null;
}

/** Where the logo is, on pages; mails put the public address before it. */
export const logoPath = (orgId: string, logo: string | null) =>
  logo === null ? null : `/logos/${orgId}/${logo}`;
