import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { Sql } from '../lib/db/db.ts';
import { Uuid } from '../lib/validation/parse.ts';
import { maxReplyLength } from '../limits.ts';
import { State, type StateKind, Time } from '../web/app/badges.tsx';
import {
  Checkbox,
  checkboxField,
  emptyForm,
  Field,
  type FormState,
  Select,
} from '../web/app/forms.tsx';
import type { CannedText } from './canned-texts.ts';
import { findCannedText } from './canned-texts.ts';
import type { ShownReply } from './queries.ts';

/** The form of a response: with `insert` it adds a canned text to the typed one and sends nothing. */
export const ReplyFields = v.pipe(
  v.object({
    reply_id: Uuid,
    reply: v.optional(
      v.pipe(
        v.string(),
        v.trim(),
        v.maxLength(maxReplyLength, `Use at most ${maxReplyLength} characters.`),
      ),
      '',
    ),
    canned: v.optional(v.string(), ''),
    done: checkboxField,
    do: v.optional(v.picklist(['insert', 'send']), 'send'),
  }),
  v.forward(
    v.partialCheck(
      [['reply'], ['do']],
      (form) => form.do === 'insert' || form.reply !== '',
      'Write a reply.',
    ),
    ['reply'],
  ),
);

type InsertFields = v.InferOutput<typeof ReplyFields>;

/** The form again, with the selected canned text after what was typed. */
export async function insertCannedText(
  sql: Sql,
  orgId: string,
  { reply_id, reply, canned, done }: InsertFields,
): Promise<FormState> {
  const text = (await findCannedText(sql, orgId, canned))?.text;
  const inserted = [reply, text].filter(Boolean).join('\n\n');
  return emptyForm({ reply_id, reply: inserted, canned, ...(done && { done: 'on' }) });
}

type ReplyPartProps = {
  replies: readonly ShownReply[];
  /** Null if the member may not reply, or nobody can be replied to. */
  compose: ComposeProps | null;
};

type ComposeProps = {
  action: string;
  form: FormState;
  texts: readonly CannedText[];
  /** The member's name, and the addresses of the survey. */
  from: { name: string; address: string; replyTo: string };
  /** Why the person gets no surveys. */
  suppressed: readonly ('unsubscribed' | 'blocked' | 'bounced')[];
};

/** The replies to a response and the form to write one. */
export const ReplyPart = ({ replies, compose }: ReplyPartProps) =>
  replies.length === 0 && compose === null ? null : (
    <div id="reply">
      <h3>Reply</h3>
      {replies.length > 0 ? (
        <ul class="rows">
          {replies.map((reply) => (
            <SentReply reply={reply} />
          ))}
        </ul>
      ) : null}
      {compose ? <ReplyForm {...compose} /> : null}
    </div>
  );

const states: Readonly<Record<ShownReply['status'], { kind: StateKind; text: string }>> = {
  sending: { kind: 'waiting', text: 'Sending' },
  sent: { kind: 'fine', text: 'Sent' },
  failed: { kind: 'failed', text: 'Not sent' },
  unknown: { kind: 'warning', text: 'Outcome unknown' },
};

function SentReply({ reply }: { reply: ShownReply }) {
  const { text, author, status, reason, created_at } = reply;
  return (
    <li>
      <div>
        <p class="who">
          <bdi>{author}</bdi>{' '}
          <span class="meta">
            <Time at={created_at} show="ago" />
          </span>{' '}
          <State kind={states[status].kind} code={status}>
            {states[status].text}
          </State>
        </p>
        <p class="words" dir="auto">
          {text}
        </p>
        {reason ? <p class="sub">{reason}</p> : null}
      </div>
    </li>
  );
}

const suppressedSentences = {
  unsubscribed:
    'This person unsubscribed from surveys. You can still reply, because a reply is correspondence.',
  blocked:
    'A member blocked this person from surveys. You can still reply, because a reply is correspondence.',
  bounced: 'An email to this address bounced. A reply may not arrive.',
};

function ReplyForm({ action, form, texts, from, suppressed }: ComposeProps) {
  const typedId = form.typed['reply_id'];
  const isTyped = typedId !== undefined;
  return (
    <details class="reveal" open={isTyped}>
      <summary>Reply by email</summary>
      {suppressed.map((kind) => (
        <p>{suppressedSentences[kind]}</p>
      ))}
      <form method="post" action={action} class="stack">
        <input type="hidden" name="reply_id" value={typedId ?? randomUUID()} />
        {texts.length > 0 ? (
          <div class="inline">
            <Select
              name="canned"
              label="Canned text"
              form={form}
              options={texts.map(({ id, name }) => ({ value: id, text: name }))}
            />
            <button type="submit" name="do" value="insert" formnovalidate>
              Insert
            </button>
          </div>
        ) : null}
        <Field
          name="reply"
          label="Reply"
          rows={6}
          form={form}
          help={
            <>
              From <bdi>{from.name}</bdi>, <bdi>{from.address}</bdi>. Answers go to{' '}
              <bdi>{from.replyTo}</bdi>.
            </>
          }
          required
        />
        <Checkbox
          name="done"
          label="Mark the response as done when the reply is sent"
          form={form}
          checked={form.typed['done'] !== undefined}
        />
        <div class="acts">
          <button type="submit" class="primary" name="do" value="send">
            Send reply
          </button>
        </div>
      </form>
    </details>
  );
}
