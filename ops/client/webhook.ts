import type { EventName, Events } from './types.ts';

export type WebhookEvent = {
  [Name in EventName]: { id: string; event: Name; payload: Events[Name] };
}[EventName];

export class WebhookRefused extends Error {
  override name = 'WebhookRefused';
}

export type WebhookRequest = {
  /** The raw body, not parsed and serialized again. */
  body: string;
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The secret shown when the webhook was created, beginning with whsec_. */
  secret: string;
  /** Maximum age of a delivery; default 300. */
  toleranceSeconds?: number;
};

/**
 * Verifies signature and age of a delivery and returns its event. Respond with 400 if it throws `WebhookRefused`.
 * `id` is the same when an event is redelivered: skip ids that you have seen.
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
  // After a rotation there are two signatures, one with each secret.
  if (!signatures.some((signature) => constantTimeEqual(signature, expected))) {
    throw new WebhookRefused('the signature does not match the secret');
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

function constantTimeEqual(actual: string, expected: string): boolean {
  let difference = actual.length ^ expected.length;
  for (let index = 0; index < expected.length; index += 1) {
    difference |= (actual.charCodeAt(index) || 0) ^ expected.charCodeAt(index);
  }
  return difference === 0;
}

function headersOf(headers: WebhookRequest['headers']): Headers {
  if (headers instanceof Headers) return headers;
  const result = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) result.set(name, Array.isArray(value) ? value.join(' ') : value);
  }
  return result;
}
