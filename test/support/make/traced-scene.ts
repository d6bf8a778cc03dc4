import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import type { Db } from '../../../src/lib/db/db.ts';
import { scriptedSmtp } from '../fakes/smtp-server.ts';
import { addressIn, program, secretKey } from '../processes/program.ts';
import { makeClient, makeSurvey } from './rows.ts';

/** Personal data and secrets that no span may contain. */
export const personalWords = {
  name: 'Hermine Quaffle',
  email: 'hermine.quaffle@quidditch.test',
  comment: 'The broomstick splintered at once',
  hookSecret: 'opensesame77',
};

/** A subscriber that rejects the first delivery of each event and accepts the second. */
export async function subscriberThatRefusesOnce() {
  const posts: IncomingHttpHeaders[] = [];
  const seen = new Set<unknown>();
  const server = createServer((request, response) => {
    posts.push(request.headers);
    const id = request.headers['webhook-id'];
    response.statusCode = seen.has(id) ? 200 : 503;
    seen.add(id);
    request.resume().on('end', () => response.end(`thank you, ${personalWords.name}`));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return {
    posts,
    url: `http://127.0.0.1:${port}/hook/${personalWords.hookSecret}?key=${personalWords.hookSecret}`,
  };
}

type TracedProgram = { db: Db; url: string; startService?: typeof program.startService };

/** The real service with a mail server, a survey and a webhook. */
export async function tracedScene(
  { db, url, startService = program.startService }: TracedProgram,
  telemetry: Record<string, string>,
) {
  const mails = await scriptedSmtp();
  const hook = await subscriberThatRefusesOnce();
  const environment = {
    DATABASE_URL: url,
    ASKBACK_SECRET_KEY: secretKey,
    PORT: '0',
    ASKBACK_WEBHOOK_ALLOW: '127.0.0.0/8',
    ASKBACK_WEBHOOK_HTTP: 'allow',
    ASKBACK_SMTP_URL: `${mails.url}?tls=none`,
    ASKBACK_TRACE_URL: 'https://traces.test/{trace_id}?tab=all',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    ...telemetry,
  };
  const start = () => startService(environment);
  const service = start();
  const address = addressIn(await service.ready());
  const client = await makeClient(db);
  const survey = await makeSurvey(db, client.id);
  const post = (path: string, body: object, headers: Record<string, string> = client.write) =>
    fetch(`${address}${path}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify(body),
    });
  const webhook = { url: hook.url, events: ['response.received'] };
  const made = (await (await post('/api/webhooks', webhook)).json()) as { id: string };
  const get = async (path: string) =>
    (await fetch(`${address}${path}`, { headers: client.read })).json() as Promise<never>;
  return {
    service,
    start,
    environment,
    address,
    client,
    survey,
    post,
    get,
    hook,
    mails,
    webhookId: made.id,
  };
}

/** Sends the survey to one contact. Returns the token of its link. */
export async function sendOne(
  { post, survey, client }: Awaited<ReturnType<typeof tracedScene>>,
  { email, headers = {} }: { email: string; headers?: Record<string, string> },
) {
  const contacts = [{ email, name: personalWords.name }];
  const path = `/api/v1/surveys/${survey}/send`;
  const answer = await post(path, { contacts }, { ...client.write, ...headers });
  const { data } = (await answer.json()) as { data: { contacts: { token: string }[] } };
  return data.contacts[0]!.token;
}
