// A webhook receiver that verifies signatures: WEBHOOK_SECRET=whsec_... node verify.mjs 8081
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env.WEBHOOK_SECRET;
const toleranceSeconds = 300;

function same(one, other) {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** X-Service-Signature: hex, keyed with the whole secret, over the raw bytes of the body. */
export function verify(headers, body) {
  const expected = createHmac('sha256', secret).update(body).digest('hex');
  return same(headers['x-service-signature'] ?? '', expected);
}

/** webhook-signature (Standard Webhooks): also covers the timestamp, and works while a secret is rotated. */
export function verifyStandard(headers, body) {
  const id = headers['webhook-id'] ?? '';
  const timestamp = headers['webhook-timestamp'] ?? '';
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) return false;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return (headers['webhook-signature'] ?? '').split(' ').some((each) => same(each, `v1,${mac}`));
}

createServer(async (request, answer) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const genuine = verify(request.headers, body) && verifyStandard(request.headers, body);
  answer.writeHead(genuine ? 204 : 401).end();
  if (genuine) console.log(request.headers['x-service-event'], JSON.parse(body));
}).listen(Number(process.argv[2] ?? 8081), '127.0.0.1', () => console.log('listening'));
