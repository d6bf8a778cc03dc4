import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dotStuff } from '../../../src/lib/smtp/message.ts';

/**
 * Reads a message like a server (RFC 5321, 4.5.2): up to the line of a single dot, without the first dot of other
 * lines.
 */
function received(text: string): string {
  const lines = text.split('\r\n');
  const kept = lines.slice(0, lines.indexOf('.')).map((line) => line.replace(/^\./, ''));
  return kept.map((line) => `${line}\r\n`).join('');
}

const lines = fc.array(fc.stringMatching(/^[. a-c]{0,5}$/), { maxLength: 8 });

test('dot-stuffing is undone by the server for any message', () => {
  fc.assert(
    fc.property(lines, (lines) => {
      const message = lines.map((line) => `${line}\r\n`).join('');
      const sent = dotStuff(Buffer.from(message, 'latin1')).toString('latin1');
      assert.equal(received(`${sent}.\r\n`), message || '\r\n');
    }),
  );
});

test('a message without its last line end gets one', () => {
  assert.equal(dotStuff(Buffer.from('.a\r\nb')).toString(), '..a\r\nb\r\n');
});

test('a message without leading dots is not copied', () => {
  const message = Buffer.from('a.\r\nb\r\n');
  assert.equal(dotStuff(message), message);
});
