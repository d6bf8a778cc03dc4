import { randomUUID } from 'node:crypto';
import { recordAct, type Writer } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue, type JobPayloads } from '../jobs.ts';
import { inLanguage } from '../letters/letter.ts';
import { type Db, inTransaction, isDatabaseAway, retryWhile, type Sql } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import type { MailOutcome } from '../lib/smtp/connection.ts';
import type { SendOptions } from '../lib/smtp/smtp.ts';
import { maxReplies } from '../limits.ts';
import { lockResponse, markDone } from '../responses/follow-up.ts';
import type { WrittenReply } from '../sends/mail-job.ts';
import { decide, deferralMs, unknownOutcome } from '../sends/rules.ts';
import type { SendProgress } from '../sends/send.ts';
import { suppressBounced } from '../suppressions/bounces.ts';
import { languageFor } from '../surveys/texts.ts';
import {
  beginReply,
  findOpenReply,
  findRecipient,
  findReply,
  insertReply,
  type OpenReply,
  type ReplyOutcome,
  type ShownReply,
  saveReplyOutcome,
} from './queries.ts';

type ReplyTools = { db: Db; progress: Pick<SendProgress, 'watch'> };

type ReplyRequest = {
  responseId: string;
  text: string;
  /** The id of the form. The same form sends one reply, however often it is submitted. */
  id?: string;
  /** Marks the response as done when the reply has been sent. */
  closes?: boolean;
};

/** Stores a reply and waits a few seconds for its outcome. A job sends it, in any process. */
export async function replyToResponse(
  { db, progress }: ReplyTools,
  writer: Writer,
  { responseId, text, id = randomUUID(), closes = false }: ReplyRequest,
): Promise<ShownReply> {
  const { orgId, actor } = writer;
  const { name: author, kind: author_kind } = actor;
  let watch: ReturnType<SendProgress['watch']> | undefined;
  try {
    await inTransaction(db, async (tx) => {
      await lockResponse(tx, orgId, responseId);
      const recipient = await findRecipient(tx, orgId, responseId);
      refuseRecipient(recipient);
      const reply = { id, responseId, text, closes, author, author_kind };
      if (!(await insertReply(tx, orgId, reply))) return;
      if (recipient!.replies >= maxReplies) {
        throw new Refusal('invalid', `a response has at most ${maxReplies} replies`, {
          code: 'too_many_replies',
        });
      }
      const target = { kind: 'response', id: responseId };
      await recordAct(tx, { orgId, actor, act: 'response.replied', target, details: { closes } });
      // Watch before the commit, because the job may report its outcome right after it.
      watch = progress.watch(id);
      await enqueue(tx, [{ task: 'replies.send', payload: { org_id: orgId, reply_id: id } }]);
    });
    await watch?.next(maxWaitMs);
  } finally {
    watch?.end();
  }
  const reply = await findReply(db, orgId, { responseId, id });
  if (reply) return reply;
  // The id is taken by a reply to another response, or the person was erased at the same moment.
  throw notFound('reply');
}

const maxWaitMs = 5000;

function refuseRecipient(recipient: Awaited<ReturnType<typeof findRecipient>>) {
  if (recipient?.erased) {
    throw new Refusal('conflict', 'this person was erased: an owner can unblock the address', {
      code: 'erased',
    });
  }
  if (recipient?.email) return;
  throw new Refusal(
    'conflict',
    'this response has no email address: it is anonymous, or its person was erased',
    { code: 'no_address' },
  );
}

export type SendReplyTools = {
  db: Db;
  log: Log;
  settings: { sendDeadlineSeconds: number };
  progress: Pick<SendProgress, 'report'>;
  mailer: { sendReply: (reply: WrittenReply, options: SendOptions) => Promise<MailOutcome> };
};

/**
 * Sends a reply at most once. If the mail server does not accept it, later jobs try again for up to a day. A reply that
 * an earlier run began and did not finish becomes unknown, because it may have arrived.
 */
export async function sendReply(
  { db, log, settings, progress, mailer }: SendReplyTools,
  { org_id: orgId, reply_id: id }: JobPayloads['replies.send'],
) {
  const reply = await findOpenReply(db, orgId, id);
  if (!reply) return;
  if (reply.status === 'sending') {
    await saveReplyOutcome(db, orgId, reply, unknown(unknownOutcome));
    return await progress.report(id, '');
  }
  let isBegun = false;
  const outcome = await mailer.sendReply(writtenReply(reply), {
    signal: AbortSignal.timeout(settings.sendDeadlineSeconds * 1000),
    mayLeave: async () => {
      isBegun = await beginReply(db, orgId, reply);
      return isBegun;
    },
  });
  const attempt = { id, attempts: reply.attempts + (isBegun ? 1 : 0) };
  const decision = decideReply(outcome, reply.age_ms);
  // The outcome must not get lost while Postgres is down.
  await retryWhile(isDatabaseAway, () =>
    inTransaction(db, async (tx) => {
      const saved = await saveReplyOutcome(tx, orgId, attempt, decision);
      if (!saved) return;
      if (saved.closes && decision.status === 'sent') {
        await markDone(tx, orgId, reply.response_id);
      }
      if (decision.bounced) {
        await tx`${suppressBounced(tx, tx`select ${orgId}::uuid, ${reply.email}::text, ${decision.reason}::text`)}`;
      }
      if (decision.status !== 'claimed') return;
      const payload = { org_id: orgId, reply_id: id };
      const runAt = new Date(Date.now() + deferralMs(reply.age_ms));
      await enqueue(tx, [{ task: 'replies.send', payload, runAt }]);
    }),
  );
  if (decision.status !== 'sent') {
    log.warn({ response_id: reply.response_id, outcome: outcome.kind }, 'a reply was not sent');
  }
  await progress.report(id, '');
}

function writtenReply(reply: OpenReply): WrittenReply {
  const { id, org_id, email, name, properties, thread, text, author, author_kind } = reply;
  const language = languageFor(reply.survey, { property: properties['language'] });
  const survey = inLanguage(reply.survey, language);
  const fromName = author_kind === 'member' ? author : survey.from_name;
  return { id, org_id, email, text, thread, fromName, survey, person: { name, properties } };
}

/** Applies the rules of survey emails, but never retries within a job, because a member waits for the outcome. */
function decideReply(outcome: MailOutcome, ageMs: number): ReplyOutcome & { bounced?: boolean } {
  const refusesAll = outcome.kind === 'refused' && outcome.permanent && outcome.about === 'server';
  const attempt = { outcome, beginning: { attempt: 1 } };
  const decision = decide(attempt, { tries: lastTry, remainingMs: 0, ageMs, refusesAll });
  const none = { reason: null, reason_code: null, server_reply: null };
  switch (decision.status) {
    case 'sent':
      return { ...none, status: 'sent', server_reply: decision.response };
    case 'unknown':
      return unknown(`${unknownOutcome} (${decision.reason})`);
    case 'failed': {
      const { reason, code: reason_code, bounced } = decision;
      return { ...none, status: 'failed', reason, reason_code, bounced };
    }
    default:
      return { ...none, status: 'claimed', reason: 'reason' in decision ? decision.reason : null };
  }
}

/** At this try, `decide` no longer retries within the job. */
const lastTry = 10;

const unknown = (reason: string): ReplyOutcome => ({
  status: 'unknown',
  reason,
  reason_code: 'unknown_outcome',
  server_reply: null,
});

/** Ends replies whose jobs have used up their attempts. No reply is tried for longer than a day. */
export async function cleanUpReplies({ db }: { db: Db }) {
  await db`
    -- all organizations
    update replies
    set status = case status when 'sending' then 'unknown' else 'failed' end,
        reason_code = case status when 'sending' then 'unknown_outcome' else 'deadline' end,
        reason = case status when 'sending' then ${unknownOutcome} else coalesce(reason, 'could not be sent within a day') end,
        finished_at = now()
    where status in ('claimed', 'sending') and created_at < now() - interval '25 hours'`;
}

const restored = 'restored from a backup: it may have been sent since, so it is not sent again';

/** Marks the open replies of all organizations as unknown. */
export async function markRepliesUnknownAfterRestore(sql: Sql) {
  await sql`
    -- all organizations
    update replies
    set status = 'unknown', reason_code = 'unknown_outcome', reason = ${restored}, finished_at = now()
    where status in ('claimed', 'sending')`;
}
