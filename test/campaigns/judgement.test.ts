import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WhoIsMailed } from '../../src/campaigns/screens/judgement.tsx';

const noContacts = {
  ...{ mailed: 0, blocked: 0, invalid: 0, alreadyAsked: 0 },
  ...{ reasons: [], used: 0, monthlyLimit: 100 },
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
