/** Hostile messages: each repeats an expensive element. */
const report = 'Content-Type: multipart/report; boundary=x; report-type=delivery-status\r\n\r\n';
const status = (body: string) =>
  `${report}--x\r\nContent-Type: message/delivery-status\r\n\r\n${body}\r\n--x--\r\n`;
const body = (type: string, text: string) => `Content-Type: ${type}\r\n\r\n${text}`;
const encoded = (encoding: string, text: string) =>
  `Content-Transfer-Encoding: ${encoding}\r\n\r\n${text}`;
const counted = (count: number, part: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => part(n)).join('');

/** Builds every form with the given size. */
export function hostileReports(size: number): Record<string, string> {
  const fill = (text: string, reserved = 4000) =>
    text.repeat(Math.max(1, Math.floor((size - reserved) / text.length)));
  return {
    plain: `Subject: x\r\n\r\n${fill('x')}`,
    lines: `Subject: x\r\n\r\n${fill('\n')}`,
    'returns and feeds': `Subject: x\r\n\r\n${fill('\r\n')}`,
    headers: fill('A: b\r\n'),
    'one long header': `A: ${fill('b')}`,
    folded: `A: b\r\n${fill(' c\r\n')}`,
    'folded content type': `Content-Type: multipart/mixed;\r\n${fill(' a=b;\r\n')}`,
    'numbered parameters': `Content-Type: text/plain;${counted(size / 16, (n) => ` name*${n}*=%41;`)}`,
    quotes: `Content-Type: text/plain; name="${fill('\\"')}`,
    'address groups': `To: ${fill('a:b,c;')}`,
    'nested comments': `To: ${fill('(')}`,
    'nested groups': `To: ${fill('a:')}`,
    'folded nested groups': `To: ${fill(`${'a:'.repeat(400)}\r\n `)}`,
    'folded address groups': `To: ${fill(`${'a:b,c;'.repeat(100)}\r\n `)}`,
    commas: `To: ${fill(',')}`,
    'address quotes': `To: ${fill('"')}`,
    addresses: `To: ${fill('<a@b>,')}`,
    'at signs': `To: ${fill('a@')}`,
    'angle brackets': `To: ${fill('<')}`,
    'encoded words': `Subject: ${fill('=?utf-8?q?a?= ')}`,
    'base64 words': `Subject: ${fill('=?utf-8?b?YQ==?=')}\r\n\r\n`,
    'broken words': `Subject: ${fill('=?a?q?')}`,
    'opened words': `Subject: ${fill('=?')}\r\n\r\n`,
    charsets: `Subject: ${fill('=?x-unknown?q?a?= ')}\r\n\r\n`,
    'many parts': report + fill('--x\r\n\r\na\r\n'),
    'almost boundaries': report + fill('--x-\r\n'),
    'nested multiparts': counted(
      size / 68,
      (n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`,
    ),
    'nested messages': fill('Content-Type: message/rfc822\r\n\r\n'),
    'messages in parts': body(
      'multipart/mixed; boundary=x',
      fill('--x\r\nContent-Type: message/rfc822\r\n\r\n'),
    ),
    'status lines': status(fill('A: b\n')),
    'status groups': status(fill('A: b\n\n')),
    'status line ends': status(fill('\n')),
    'status folds': status(fill('\n ')),
    'status spaces': status(`A${fill(' ')}`),
    'status codes': status(`X: y\n\nStatus: ${fill('5.')}`),
    'status digits': status(`X: y\n\nStatus: ${fill('5.111.')}`),
    'status diagnostic': status(`X: y\n\nDiagnostic-Code: ${fill(' ')}x`),
    'status recipients': status(`X: y\n\n${fill('Final-Recipient: rfc822;a@b.c\n\n')}`),
    'html brackets': body('text/html', fill('<')),
    'html tags': body('text/html', fill('<a href="x">y</a>')),
    'html entities': body('text/html', fill('&amp;')),
    'html opened': body('text/html', fill('<a ')),
    'html comments': body('text/html', fill('<!--')),
    'html styles': body('text/html', fill('<style>')),
    'html tables': body('text/html', fill('<tr><td>')),
    'html line ends': body('text/html', fill('<br>\n ')),
    'html spaces': body('text/html', fill(' ')),
    'html links': body('text/html', fill("<a href='")),
    'text links': body('text/plain', fill('http://a.b/ ')),
    'flowed quotes': body('text/plain; format=flowed', fill('> \r\n')),
    'flowed spaces': body('text/plain; format=flowed; delsp=yes', fill('a \r\n')),
    'quoted line ends': encoded('quoted-printable', fill('=\r\n')),
    'quoted bytes': encoded('quoted-printable', fill('=41')),
    base64: encoded('base64', fill('YWFh')),
    'utf-7': body('text/plain; charset=utf-7', fill('+AGE-')),
    'iso-2022': body('text/plain; charset=iso-2022-jp', fill('\u001b$B')),
  };
}
