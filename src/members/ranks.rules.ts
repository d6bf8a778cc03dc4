import type { Role } from '../sessions/session.ts';

/** The role with the higher rank may do all that the other may, and more. */
export const ranks: Readonly<Record<Role, number>> = { viewer: 1, editor: 2, owner: 3 };
