import { encode, wrap } from 'nodemailer/lib/qp';
import { createSemaphore } from '../async/semaphore.ts';

/** Where a recipient's own words go. The marks are noncharacters, which no text may contain. */
export const slot = (name: string) => `\ufdd0${name}\ufdd1`;

const slotForm = /\ufdd0([a-z0-9_]+)\ufdd1/;
const everySlot = new RegExp(slotForm.source, 'g');

/** The slots of a header value, each replaced by what stands for it in the composed message. */
export const headerSlots = (value: string, marked: (name: string) => string) =>
  value.replace(everySlot, (_, name: string) => marked(name));

export const hasSlots = (text: string) => slotForm.test(text);

/** A line with its slots filled, before it is encoded for where it stands. */
export const fillLine = (line: string, slots: Readonly<Record<string, string>>) =>
  line.replace(everySlot, (_, name: string) => slotValue(slots, name));

type Body = { kind: 'text' | 'html'; pieces: Piece[] };
/** Already encoded, or the name of a slot. */
type Piece = { encoded: string } | { slot: string };

/** A body in quoted-printable, cut at its slots. */
export function cutAtSlots(body: string, kind: Body['kind']): Body {
  // split() with one group alternates between text and the name of a slot.
  const pieces = body
    .split(slotForm)
    .map((text, at) => (at % 2 === 0 ? { encoded: quotedPrintable(text) } : { slot: text }));
  return { kind, pieces };
}

/**
 * Joins the pieces by soft line breaks, which a reader takes out again: each piece stays encoded as it
 * is, wherever it comes to stand in its line.
 */
export function fillBody({ kind, pieces }: Body, slots: Readonly<Record<string, string>>): string {
  let filled = '';
  // Whether the next piece begins a line anyway. Never asked of `filled`: that would copy it each time.
  let atLineStart = true;
  for (const piece of pieces) {
    const encoded = 'encoded' in piece ? piece.encoded : encodedSlot(kind, slots, piece.slot);
    if (encoded === '') continue;
    filled += atLineStart ? encoded : `=\r\n${encoded}`;
    atLineStart = encoded.endsWith('\n');
  }
  return filled;
}

function encodedSlot(kind: Body['kind'], slots: Readonly<Record<string, string>>, name: string) {
  const value = slotValue(slots, name);
  if (plainWord.test(value)) return value;
  return quotedPrintable(kind === 'html' ? escapeHtml(value) : value);
}

export function slotValue(slots: Readonly<Record<string, string>>, name: string): string {
  const value = slots[name];
  if (value === undefined) throw new Error(`nothing to fill the slot ${name} with`);
  return value;
}

const plainWord = /^[A-Za-z0-9_-]{1,72}$/;

// Of the 76 allowed: a soft line break may follow, and a dot may take two more.
const maxLineLength = 73;

/** No line begins with a dot: it would have to be doubled on the way, and not everybody undoes that. */
const quotedPrintable = (text: string) =>
  wrap(encode(text.toWellFormed().replace(/\r\n|\r|\n/g, '\r\n')), maxLineLength).replace(
    /^\./gm,
    '=2E',
  );

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => escapes[character]!);

const maxPauseMs = 30_000;

/**
 * How many messages are in flight at once and how soon the next may start. Groups, such as organizations, take turns.
 * A server that asks for less gets half of it and a pause; each accepted message then earns a part of a place back.
 */
export function createThrottle(options: {
  connections: number;
  messagesPerSecond: number | null;
  firstPauseMs?: number;
}) {
  const { connections, messagesPerSecond, firstPauseMs = 500 } = options;
  const semaphore = createSemaphore({ slots: connections, startsPerSecond: messagesPerSecond });
  let [limit, pausedUntil, pauseMs] = [connections, 0, firstPauseMs];

  function slowDown() {
    // Many connections get the same complaint at the same moment: it counts once.
    if (performance.now() < pausedUntil) return;
    limit = Math.max(1, Math.floor(limit / 2));
    pausedUntil = performance.now() + pauseMs;
    semaphore.pause(pauseMs);
    pauseMs = Math.min(pauseMs * 2, maxPauseMs);
    semaphore.resize(limit);
  }

  function speedUp() {
    if (limit === connections) return;
    limit = Math.min(connections, limit + 1 / limit);
    semaphore.resize(Math.floor(limit));
    if (limit === connections) pauseMs = firstPauseMs;
  }

  return {
    /** Waits for a place and returns how to give it back; nothing when the signal ended the wait. */
    async enter(group: string, signal?: AbortSignal) {
      const leave = await semaphore.acquire(group, signal).catch(() => undefined);
      if (!leave) return undefined;
      return (ending: 'fine' | 'asked_for_less' | 'failed') => {
        if (ending === 'asked_for_less') slowDown();
        if (ending === 'fine') speedUp();
        leave();
      };
    },
    state() {
      const { held, waiting } = semaphore.counts();
      return { limit: Math.floor(limit), underWay: held, waiting };
    },
  };
}
