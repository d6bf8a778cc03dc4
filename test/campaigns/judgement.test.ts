import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WhoIsMailed, WhyNot } from '../../src/campaigns/screens/send.tsx';

const noContacts = {
  mailed: 0,
  blocked: 0,
  invalid: 0,
  alreadyAsked: 0,
  reasons: [],
  used: 0,
  monthlyLimit: 100,
};

const sentences: [of: Partial<typeof noContacts>, says: string][] = [
  [{}, 'This survey has no contacts yet.'],
  [{ mailed: 1 }, 'That is everybody of 1 contact. Nothing has been sent yet.'],
  [{ mailed: 1, alreadyAsked: 1 }, 'The other 1 of 2 will not. Nothing has been sent yet.'],
  [{ alreadyAsked: 1 }, 'Every contact of this survey was asked already.'],
  [{ blocked: 1, alreadyAsked: 1 }, 'The other 2 of 2 will not. Nothing has been sent yet.'],
  [{ invalid: 1 }, 'The other 1 of 1 will not. Nothing has been sent yet.'],
];
for (const [of, says] of sentences) {
  test(`contacts that are ${JSON.stringify(of)}: ${says}`, () => {
    const html = String(WhoIsMailed({ judgement: { ...noContacts, ...of } }));
    assert.ok(html.includes(`<p>${says}</p>`), html);
  });
}

test('the bar has a part for each fate of a contact, and is not there without contacts', () => {
  const rects = (of: Partial<typeof noContacts>) => {
    const html = String(WhoIsMailed({ judgement: { ...noContacts, ...of } }));
    const parts = html.matchAll(/<rect(?: class="([^"]*)")? x="([^"]*)" width="([^"]*)"/g);
    return { isThere: html.includes('<svg'), parts: [...parts].map(([, ...part]) => part) };
  };
  assert.deepEqual(rects({}), { isThere: false, parts: [] });
  assert.deepEqual(rects({ mailed: 2, alreadyAsked: 1, invalid: 1 }), {
    isThere: true,
    parts: [
      [undefined, '0%', '50%'],
      ['is-skipped', '50%', '25%'],
      ['is-failed', '75%', '25%'],
    ],
  });
});

for (const [people, says] of [
  [8, undefined],
  [9, '1 more'],
] as const) {
  test(`a reason of ${people} people with eight of them ${says ? `leads to ${says}` : 'is complete'}`, () => {
    const examples = Array.from({ length: 8 }, (_, n) => ({ email: `${n}@a.test`, remark: null }));
    const reasons = [{ code: 'bounced', people, examples }];
    const judgement = { ...noContacts, blocked: people, reasons };
    const html = String(WhyNot({ judgement, csv: '/all.csv' }));
    assert.equal(/\d+ more/.exec(html)?.[0], says);
  });
}
