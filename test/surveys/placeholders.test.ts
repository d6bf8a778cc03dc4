import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anyPerson, fillIn, validatePlaceholders } from '../../src/surveys/texts.ts';

const ada = {
  name: 'Ada Lovelace',
  properties: {
    plan: 'pro',
    seats: 3,
    tags: ['a'],
    x: '{{name}}',
    Modell: 'E',
    City: 'Kiel',
    city: 'Köln',
    STATE: 'a',
    State: 'b',
  },
};

for (const [text, filled] of [
  ['Hello {{name}}', 'Hello Ada Lovelace'],
  ['Hello {{ first_name }}!', 'Hello Ada!'],
  ['{{properties.plan}} with {{properties.seats}} seats', 'pro with 3 seats'],
  ['{{properties.town|your town}}', 'your town'],
  ['{{properties.modell|bike}}', 'E'],
  ['{{properties.city}} {{properties.City}}', 'Köln Kiel'],
  ['{{properties.state|none}}', 'none'],
  ['{{properties.tags|some}}', 'some'],
  ['{{properties.toString|nothing}}', 'nothing'],
  ['{{properties.x}}', '{{name}}'],
  ['no {braces} of ours', 'no {braces} of ours'],
] as const) {
  test(`fills ${text} as ${filled}`, () => assert.equal(fillIn(text, ada), filled));
}

test('an empty name is replaced by the fallback or by nothing', () => {
  assert.equal(fillIn('Hello {{first_name|there}}{{name}}', anyPerson), 'Hello there');
});

test('strips line breaks and direction overrides from values', () => {
  const person = { name: 'A\r\nBcc: x\u202e', properties: {} };
  assert.equal(fillIn('{{name}}', person), 'A Bcc: x');
});

for (const text of [
  '{{frist_name}}',
  '{{properties.}}',
  '{{}}',
  '{{name',
  '{{ {{name}}',
  '{{name|a|b}',
]) {
  test(`rejects ${text}`, () => assert.match(validatePlaceholders(text) ?? '', /placeholder/));
}

test('accepts texts with known placeholders or none', () => {
  for (const text of ['', '} { }}', '{{name}}', '{{first_name|x}}', '{{properties.a b}}']) {
    assert.equal(validatePlaceholders(text), undefined, text);
  }
});
