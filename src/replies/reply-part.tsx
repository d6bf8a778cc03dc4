import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { toSentence } from '../errors.ts';
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
import { Icon } from '../web/app/icon.tsx';
import { type CannedText, listCannedTexts } from './canned-texts.ts';
import type { ShownReply } from './queries.ts';

/** The reply form of a response. A post with `insert` adds a canned text to the typed text and sends nothing. */
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

/** Returns the form with the selected canned text below the typed text. */
export async function insertCannedText(
  sql: Sql,
  orgId: string,
  { reply_id, reply, canned, done }: InsertFields,
): Promise<FormState> {
  const text = (await listCannedTexts(sql, orgId)).find(({ id }) => id === canned)?.text;
  const inserted = [reply, text].filter(Boolean).join('\n\n');
  return emptyForm({ reply_id, reply: inserted, canned, ...(done && { done: 'on' }) });
}

type ReplyPartProps = {
  replies: readonly ShownReply[];
  /** Null if the member may not reply, or if the response has no recipient. */
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

export const ReplyPart = ({ replies, compose }: ReplyPartProps) =>
  replies.length === 0 && compose === null ? null : (
    <section class="stack tight" aria-label="Replies">
      {replies.length > 0 ? (
        <ul class="rows">
          {replies.map((reply) => (
            <SentReply reply={reply} />
          ))}
        </ul>
      ) : null}
      {compose ? <ReplyForm {...compose} /> : null}
    </section>
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
        {reason ? (
          <p class={status === 'failed' ? 'small danger' : 'sub'}>{toSentence(reason)}</p>
        ) : null}
      </div>
    </li>
  );
}

const suppressedSentences = {
  unsubscribed:
    'This person unsubscribed from surveys. You can still reply, because a reply is a personal email.',
  blocked:
    'A member blocked this person from surveys. You can still reply, because a reply is a personal email.',
  bounced: 'An email to this address bounced. A reply may not arrive.',
};

function ReplyForm({ action, form, texts, from, suppressed }: ComposeProps) {
  return (
    <form method="post" action={action} class="stack tight">
      {suppressed.map((kind) => (
        <p class="sub">{suppressedSentences[kind]}</p>
      ))}
      <input type="hidden" name="reply_id" value={form.typed['reply_id'] ?? randomUUID()} />
      <Field
        name="reply"
        label="Reply by email"
        rows={3}
        form={form}
        help={
          <>
            From <bdi>{from.name}</bdi>, <bdi>{from.address}</bdi>. Answers go to{' '}
            <bdi>{from.replyTo}</bdi>.
          </>
        }
        aria-keyshortcuts="r"
        required
      />
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
      <div class="acts">
        <button type="submit" class="primary" name="do" value="send">
          <Icon name="reply" />
          Send reply
        </button>
        <Checkbox
          name="done"
          label="Mark the response as done when the reply is sent"
          form={form}
          checked={form.typed['done'] !== undefined}
        />
      </div>
    </form>
  );
}
