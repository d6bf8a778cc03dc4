import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutQuotes } from '../../src/summaries/erase.ts';

const comment = 'The gearbox jammed thrice yesterday, and Ann Smith did not call back.';
const others = ['Delivery takes too long.', 'Support is friendly and quick.'];

const cases: [what: string, summary: string, left: string | undefined][] = [
  ['without a quote nothing changes', others.join(' '), undefined],
  [
    'a sentence that quotes goes',
    `${others[0]} One wrote that the gearbox jammed thrice. ${others[1]}`,
    others.join(' '),
  ],
  [
    'a line of quotes goes',
    `${others[0]}\n\nIn their words:\n- “The gearbox jammed thrice yesterday”\n- “Too slow”`,
    `${others[0]}\n\nIn their words:\n- “Too slow”`,
  ],
  [
    'a heading goes with its last quote',
    `${others[0]}\n\nIn their words:\n- “THE GEARBOX, jammed thrice!”`,
    others[0],
  ],
  ['a quote with placeholders goes', `${others[0]}\n- “and [name] did not”`, others[0]],
  [
    'a quote with a placeholder in it goes, also from the first word on',
    `${others[0]}\n- “The gearbox [name] thrice”`,
    others[0],
  ],
  [
    'a quote goes that is between placeholders',
    `${others[0]}\n- “[name] did not [email]”`,
    others[0],
  ],
  ['a quote of placeholders alone stays', `${others[0]}\n- “[name] [email]”`, undefined],
  ['three words in a row are no quote', 'The gearbox jammed for many.', undefined],
  ['the last three words are no quote', 'They should not call back so late.', undefined],
  ['words of a quote in another order stay', `${others[0]}\n- “jammed [name] gearbox”`, undefined],
];

for (const [what, summary, left] of cases) {
  test(what, () => assert.equal(withoutQuotes(summary, comment), left));
}

for (const short of ['Slow', 'Too slow', 'Far too slow', 'Far too slow lately']) {
  test(`removes the whole comment "${short}"`, () => {
    const summary = `${others[1]} One wrote: it is ${short.toLowerCase()}.`;
    assert.equal(withoutQuotes(summary, short), others[1]);
    assert.equal(withoutQuotes(`${others[0]}\n\n${summary}`, short), others.join('\n\n'));
    assert.equal(withoutQuotes(others[1]!, short), undefined);
  });
}

test('a comment without words removes nothing', () => {
  for (const between of [' ', '\n\n'])
    assert.equal(withoutQuotes(others.join(between), '👎 !!'), undefined);
});

test('removes every run of four words and nothing else', () => {
  const words = comment.toLowerCase().match(/[a-z]+/g) ?? [];
  for (let from = 0; from + 4 <= words.length; from++) {
    for (let to = from + 4; to <= words.length; to++) {
      const said = words.slice(from, to).join(' ');
      const sentences = [...others];
      sentences.splice(from % 3, 0, `They say ${said} again.`);
      assert.equal(withoutQuotes(sentences.join(' '), comment), others.join(' '), said);
      const listed = `${others[0]}\n- “${said}”\n- “${others[1]}”`;
      assert.equal(withoutQuotes(listed, comment), `${others[0]}\n- “${others[1]}”`, said);
    }
  }
});
