import type { EventName, Events } from './types.ts';

export type WebhookEvent = {
  [Name in EventName]: { id: string; event: Name; payload: Events[Name] };
}[EventName];

export class WebhookRefused extends Error {
  override name = 'WebhookRefused';
}

export type WebhookRequest = {
  /** The body as it arrived, byte for byte: not parsed and written again. */
  body: string;
  headers: Headers | Record<string, string | string[] | undefined>;
  /** What was shown when the webhook was made, beginning with whsec_. */
  secret: string;
  /** How old a delivery may be; 300 seconds unless said otherwise. */
  toleranceSeconds?: number;
};

/**
 * Checks that a delivery comes from the service, is whole and new, and returns its event. Throws `WebhookRefused`
 * otherwise: answer 400 then. `id` is the same when an event is delivered again: drop what you have seen.
 */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookEvent> {
  const { body, secret, toleranceSeconds = 300 } = request;
  const headers = headersOf(request.headers);
  const id = headers.get('webhook-id') ?? '';
  const timestamp = headers.get('webhook-timestamp') ?? '';
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!id || !/^\d+$/.test(timestamp)) throw new WebhookRefused('the delivery is not signed');
  if (age > toleranceSeconds)
    throw new WebhookRefused('the delivery is too old, or a clock is wrong');
  const signatures = (headers.get('webhook-signature') ?? '').split(' ');
  const expected = `v1,${await sign(secret, `${id}.${timestamp}.${body}`)}`;
  // After a rotation there are two signatures, by the new secret and the old one.
  if (!signatures.some((signature) => isSame(signature, expected))) {
    throw new WebhookRefused('the signature is not that of this secret');
  }
  const event = [...headers].find(([name]) => /^x-.+-event$/.test(name))?.[1];
  return { id, event, payload: JSON.parse(body) } as WebhookEvent;
}

async function sign(secret: string, text: string): Promise<string> {
  const bytes = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (c) => c.charCodeAt(0));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
  const mac = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text));
  return btoa(String.fromCharCode(...new Uint8Array(mac)));
}

/** In a time that does not depend on where they differ. */
function isSame(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let place = 0; place < other.length; place += 1) {
    difference |= (one.charCodeAt(place) || 0) ^ other.charCodeAt(place);
  }
  return difference === 0;
}

function headersOf(given: WebhookRequest['headers']): Headers {
  if (given instanceof Headers) return given;
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(' ') : value);
  }
  return headers;
}
