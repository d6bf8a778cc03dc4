import { createHash } from 'node:crypto';
import type { Sql } from '../../../src/lib/db/db.ts';
import { hashToken } from '../../../src/sessions/cookie.ts';
import { ago, ahead, id, word } from './names.ts';

export const troubled = { id: id('tern'), slug: 'tern' };
export const untouched = { id: id('osprey'), slug: 'osprey' };

const month = '2026-05-01';

/** An organization in which all goes wrong that a home warns of, and one in which nothing was begun. */
export async function addTroubled(sql: Sql) {
  await sql`insert into organizations ${sql({
    ...{ ...troubled, name: 'Tern', monthly_send_limit: 10, created_at: ago(60) },
  })}`;
  await sql`insert into organizations ${sql({ ...untouched, name: 'Osprey', created_at: ago(9) })}`;
  for (const org_id of [troubled.id, untouched.id]) {
    const member_id = id('member-owner');
    await sql`
      insert into memberships ${sql({ org_id, member_id, role: 'owner', created_at: ago(9) })}`;
  }
  await sql`insert into mail_usage ${sql({ org_id: troubled.id, month, used: 10 })}`;
  await sql`insert into member_links ${sql({
    ...{ token_hash: hashToken(word('invited-one')), id: id('invited-one'), kind: 'invitation' },
    ...{ email: 'one@tern.example', role: 'viewer', org_id: troubled.id },
    ...{ expires_at: ahead(2), created_at: ago(5) },
  })}`;
  const of = { org_id: troubled.id, survey_id: id('survey-tern') };
  await sql`insert into surveys ${sql({
    ...{ org_id: troubled.id, id: of.survey_id, name: 'Trips', question_text: 'How was it?' },
    ...{ from_name: 'Tern', from_email: 'a@tern.example', reply_to: 'a@tern.example' },
    ...{ share_id: 'share-of-tern', type: 'csat', created_at: ago(30), updated_at: ago(30) },
  })}`;
  for (let n = 0; n < 7; n++) await addMailTrouble(sql, of, n);
  for (let n = 0; n < 45; n++) {
    await sql`insert into responses ${sql({
      ...{ ...of, id: id(`response-tern-${n}`), score: 1 + (n % 5), source: 'share' },
      ...{ category: ['detractor', 'detractor', 'passive', 'promoter', 'promoter'][n % 5]! },
      created_at: ago(n % 15, n),
    })}`;
  }
}

async function addMailTrouble(sql: Sql, of: { org_id: string; survey_id: string }, n: number) {
  const email = `p${n}@people.example`;
  const contact_id = id(`contact-tern-${n}`);
  const token = createHash('sha256').update(contact_id).digest('base64url').slice(0, 32);
  const status = n === 0 ? 'sent' : 'failed';
  await sql`insert into contacts ${sql({
    ...{ ...of, id: contact_id, email, token, status, created_at: ago(9), updated_at: ago(1) },
  })}`;
  await sql`insert into mails ${sql({
    ...{ ...of, id: id(`mail-tern-${n}`), contact_id, request_id: id('batch-tern'), email, status },
    ...{ blocks_resend: n === 0, month, attempts: 3, reason: n === 0 ? null : '451 busy' },
    ...{ claimed_at: ago(2), sending_at: ago(2), finished_at: ago(1) },
  })}`;
  if (n === 0) return;
  await sql`insert into suppressions ${sql({
    ...{ id: id(`suppression-tern-${n}`), org_id: of.org_id, email, kind: 'bounced' },
    created_at: ago(1, n),
  })}`;
}
