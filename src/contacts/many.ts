import { randomBytes } from 'node:crypto';
import type { Sql } from '../lib/db/db.ts';
import { listByAddress, type ManyContact, saveMany } from './many.queries.ts';

const tokenBytes = 24;

/** What a contact's personal link is known by: long enough that nobody guesses one. */
export const newToken = () => randomBytes(tokenBytes).toString('base64url');

type Where = { orgId: string; surveyId: string };

/** Adds or updates many contacts of a survey in one statement. */
export async function saveContacts(
  sql: Sql,
  where: Where,
  contacts: readonly Omit<ManyContact, 'token'>[],
) {
  if (contacts.length === 0) return [];
  const withTokens = contacts.map((contact) => ({ ...contact, token: newToken() }));
  return await saveMany(sql, where, withTokens);
}

export const findContacts = listByAddress;
