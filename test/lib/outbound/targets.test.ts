import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkTarget, forbiddenTarget, parseAllowList } from '../../../src/lib/outbound/connect.ts';

const strict = { allow: [], http: false };

const accepted = [
  'https://example.com/hook',
  'https://example.com',
  'https://example.com./hook',
  'https://example.com:8443/hook?a=b#c',
  'https://sub_domain.example.com/',
  'https://bücher.example/',
  'https://does-not-resolve.invalid/',
  'https://localhost.example.com/',
  'https://notlocalhost/',
  'https://93.184.215.14/',
  'https://[2606:4700:4700::1111]/',
  'https://example.com/a@b',
];

for (const url of accepted) {
  test(`${url} is accepted`, () => assert.equal(checkTarget(url, strict), null));
}

const leadsInside = [
  'https://127.0.0.1/',
  'https://127.0.0.1./',
  'https://2130706433/',
  'https://017700000001/',
  'https://0x7f000001/',
  'https://0x7F.1/',
  'https://0177.0.0.1/',
  'https://127.1/',
  'https://127.0.1/',
  'https://0/',
  'https://0x0/',
  'https://①②⑦.⓪.⓪.①/',
  'https://127。0。0。1/',
  'https://%31%32%37.0.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://0xa9fea9fe/',
  'https://2852039166/',
  'https://10.0.0.1:8443/',
  'https://012.0.0.1/',
  'https://192.168.257/',
  'https://[::]/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::127.0.0.1]/',
  'https://[64:ff9b::127.0.0.1]/',
  'https://[64:ff9b::a9fe:a9fe]/',
  'https://[2002:7f00:1::]/',
  'https://[fe80::1]/',
  'https://[fd00::1]/',
  'https://localhost/',
  'https://LOCALHOST/',
  'https://localhost./',
  'https://localhost:8443/',
  'https://app.localhost/',
  'https://app.localhost./',
  'https://localhost.localdomain/',
  'https://localhost6/',
  'https://ip6-localhost/',
  'https://ip6-loopback/',
  'https://ｌｏｃａｌｈｏｓｔ/',
];

for (const url of leadsInside) {
  test(`${url} is refused as internal`, () =>
    assert.equal(checkTarget(url, strict), forbiddenTarget));
}

const refused: [url: string, complaint: RegExp][] = [
  ['http://example.com/', /begin with https/],
  ['ftp://example.com/', /begin with https/],
  ['file:///etc/passwd', /begin with https/],
  ['javascript:alert(1)', /begin with https/],
  ['example.com/hook', /is not valid/],
  ['https://', /is not valid/],
  ['https://256.256.256.256/', /is not valid/],
  ['https://1.2.3.4.5/', /is not valid/],
  ['https://[fe80::1%25eth0]/', /is not valid/],
  ['https://[::1/', /is not valid/],
  ['https://example.com:65536/', /is not valid/],
  ['https://user@example.com/', /user name/],
  ['https://user:secret@example.com/', /user name/],
  ['https://@example.com/', /user name/],
  ['https://:@example.com/', /user name/],
  ['https://example.com@127.0.0.1/', /user name/],
  ['https://example.com:0/', /port 0/],
  ['https://example.com:25/', /port 25/],
  ['https://example.com:6667/', /port 6667/],
  ['https://exa mple.com/', /spaces/],
  ['https://exa\tmple.com/', /spaces/],
  ['https://example.com/\n', /spaces/],
  ['https://example.com\\@127.0.0.1/', /spaces|control/],
  ['https://example..com/', /no valid host name/],
  ['https://example.com../', /no valid host name/],
  ['https://./', /no valid host name/],
  [`https://${'a'.repeat(64)}.com/`, /no valid host name/],
  [`https://example.com/${'a'.repeat(2048)}`, /longer than 2048/],
];

for (const [url, complaint] of refused) {
  test(`${JSON.stringify(url.slice(0, 60))} is refused`, () =>
    assert.match(checkTarget(url, strict) ?? 'accepted', complaint));
}

test('an operator can allow http, ranges and localhost', () => {
  const rules = { allow: parseAllowList(['127.0.0.0/8']), http: true };
  const urls = ['http://127.0.0.1:3000/', 'http://localhost:3000/', 'http://example.com/'];
  assert.deepEqual(
    urls.map((url) => checkTarget(url, rules)),
    [null, null, null],
  );
  assert.equal(checkTarget('http://10.0.0.1/', rules), forbiddenTarget);
  assert.equal(checkTarget('http://example.com:22/', rules), 'the url must not use port 22');
});
