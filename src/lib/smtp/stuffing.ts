/**
 * A message as it goes after DATA: a line that begins with a dot gets another one, and the last line
 * ends. Its line ends must be CRLF already. Most messages come back as they are, uncopied.
 */
export function stuffed(message: Buffer): Buffer {
  const ends = message.subarray(-2).equals(lineEnd);
  if (ends && message[0] !== dot && !message.includes(lineAndDot)) return message;
  const text = message.toString('latin1').replace(/(^|\r\n)\./g, '$1..');
  return Buffer.from(ends ? text : `${text}\r\n`, 'latin1');
}

const dot = 0x2e;
const lineEnd = Buffer.from('\r\n');
const lineAndDot = Buffer.from('\r\n.');
