import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { Refusal } from '../errors.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { Uuid } from '../lib/validation/parse.ts';

const confirmMs = 10 * 60_000;

export const SendInput = v.object({
  survey_id: Uuid,
  contacts: v.array(v.unknown()),
  confirm: v.optional(v.string()),
});

export type SendInput = v.InferOutput<typeof SendInput>;

export const sendTool = {
  name: 'send_survey',
  title: 'Send a survey',
  description:
    'Mails a survey to contacts. The first call is a dry run: it says what would become of each contact and returns the word `confirm`. Show that to the user; only a second call with the same contacts and that word, within 10 minutes, sends mail.',
  inputSchema: {
    type: 'object',
    properties: {
      survey_id: { type: 'string', format: 'uuid' },
      contacts: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: {
            email: { type: 'string' },
            name: { type: 'string' },
            properties: { type: 'object', additionalProperties: true },
          },
          required: ['email'],
        },
      },
      confirm: { type: 'string', description: 'the word that the dry run returned' },
    },
    required: ['survey_id', 'contacts'],
  },
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
};

const Receipt = v.object({ contacts: v.string(), until: v.number() });

/**
 * The word that allows a send after its dry run: sealed for the organization and the survey, it names the contacts
 * and the time until which it holds. Nothing is stored, and every process knows it.
 */
export function confirmWord(secrets: Secrets, orgId: string, input: SendInput): string {
  const receipt = { contacts: hashOf(input.contacts), until: Date.now() + confirmMs };
  return secrets.seal(ownerOf(orgId, input), JSON.stringify(receipt)).toString('base64url');
}

export function checkConfirm(secrets: Secrets, orgId: string, input: SendInput) {
  const receipt = openReceipt(secrets, orgId, input);
  if (receipt?.contacts !== hashOf(input.contacts)) {
    throw new Refusal(
      'invalid',
      'confirm is not the word of a dry run of this survey and these contacts: call again without it',
      { code: 'confirm_unknown' },
    );
  }
  if (receipt.until < Date.now()) {
    throw new Refusal('invalid', 'confirm holds for 10 minutes: call again without it', {
      code: 'confirm_too_old',
    });
  }
}

function openReceipt(secrets: Secrets, orgId: string, input: SendInput) {
  try {
    const sealed = Buffer.from(input.confirm ?? '', 'base64url');
    return v.parse(Receipt, JSON.parse(secrets.open(ownerOf(orgId, input), sealed)));
  } catch {
    return undefined; // made up, of another organization, or of another survey
  }
}

const ownerOf = (orgId: string, { survey_id }: SendInput) => ({
  owner: orgId,
  id: `mcp send ${survey_id}`,
});

/** Programs may write the members of an object in another order. */
const hashOf = (contacts: readonly unknown[]): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(contacts)))
    .digest('base64url');

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, part]) => [name, sorted(part)]));
}
