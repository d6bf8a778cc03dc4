import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { examplesOf } from '../../../src/examples.ts';
import { docsHeaders, renderDocs } from '../../../src/lib/openapi/docs.tsx';
import { describeApi } from '../../../src/lib/openapi/openapi.ts';
import { sendSection } from '../../../src/sends/api.ts';
import { webhookSection } from '../../../src/webhooks/api.ts';
import { messageHeaders, messages } from '../../../src/webhooks/events.ts';

const sections = [sendSection({ maxContacts: 1000 }), webhookSection];
const document = describeApi({
  info: {
    title: 'askback <&>',
    version: '1',
    description: 'Hello.\n\n## Keys\nSay `X-API-Key`.',
    contact: { name: 'Somebody' },
    license: { name: 'MIT', identifier: 'MIT' },
  },
  examples: examplesOf(sections, messages),
  sections,
  messages,
  messageHeaders: messageHeaders('Service'),
});
const text = renderDocs(document, 'https://feedback.example');
const policy = docsHeaders['Content-Security-Policy'];
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

test('the page has an anchor for every operation and event', () => {
  for (const { operationId, summary } of operations) {
    const shown = summary.replaceAll("'", '&#39;');
    assert.ok(text.includes(`id="${operationId}"`) && text.includes(shown), operationId);
  }
  for (const type of Object.keys(document.webhooks)) assert.ok(text.includes(`id="${type}"`), type);
});

test('the page has no script and loads nothing', () => {
  assert.match(
    policy,
    /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:; base-uri 'none'/,
  );
  assert.doesNotMatch(
    text.replace(/<link rel="icon" href="data:[^"]+"\/>/, ''),
    /<script|<img|<link|<iframe|@import|url\(|\son\w+=/i,
  );
});

test('the policy allows the style of the page', () => {
  const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? '';
  const hash = createHash('sha256').update(style).digest('base64');
  assert.ok(policy.includes(`'sha256-${hash}'`));
});

test('the page shows the examples, also in the curl command', () => {
  const shown = text.replaceAll('&quot;', '"').replaceAll('&#39;', "'");
  for (const { operationId, requestBody, parameters } of operations) {
    const { example } = requestBody?.content['application/json'] ?? {};
    if (example) assert.ok(shown.includes(`-d '${JSON.stringify(example)}'`), operationId);
    for (const { in: where, example: id } of parameters) {
      if (where === 'path') assert.ok(id && shown.includes(`/${id}`), operationId);
    }
  }
  assert.ok(shown.includes('"hasComment": true'));
});

test('wide tables are named regions that keys can scroll', () => {
  const tables = text.match(/<table>/g) ?? [];
  const regions = text.match(/<section class="scroll" tabindex="0" aria-label="[^"]+"><table>/g);
  assert.ok(tables.length > 20);
  assert.equal(regions?.length, tables.length);
});
