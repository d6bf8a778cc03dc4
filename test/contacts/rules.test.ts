import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkContact,
  contactColumnOf,
  contactHeaders,
  describeRowError,
  fullName,
  validateName,
  validateProperties,
} from '../../src/contacts/rules.ts';
import { headerKey } from '../../src/lib/cli/csv.ts';

/** `{"x":"..."}` of the given size. */
const ofBytes = (bytes: number) => ({ x: 'a'.repeat(bytes - '{"x":""}'.length) });
const nested = (levels: number): object => (levels === 1 ? {} : { inner: nested(levels - 1) });
const nestedList = (levels: number): unknown => (levels === 0 ? 1 : [nestedList(levels - 1)]);

const properties: [why: string, value: object, fits: boolean][] = [
  ['nothing', {}, true],
  ['everything JSON has', { a: [1, 'b', null, true], c: { d: 1.5 } }, true],
  ['16384 bytes', ofBytes(16_384), true],
  ['16385 bytes', ofBytes(16_385), false],
  ['16385 bytes in fewer characters', { x: `${'é'.repeat(8188)}a` }, false],
  ['32 levels', nested(32), true],
  ['32 levels and a number within', { list: nestedList(31) }, true],
  ['33 levels', nested(33), false],
  ['5000 levels', nested(5000), false],
  ['NUL in a value', { a: ['b\u0000'] }, false],
  ['NUL in a name', { 'a\u0000': 1 }, false],
  ['half a surrogate pair', { a: '\ud800' }, false],
  ['the text of an escaped NUL', { a: '\\u0000' }, true],
  ['a field named __proto__', JSON.parse('{"a": {"__proto__": {}}}'), false],
  ['a number that is no longer one', { a: Number.POSITIVE_INFINITY }, false],
  ['a list in place of an object', [], false],
];
for (const [why, value, fits] of properties) {
  test(`custom fields with ${why} are ${fits ? 'valid' : 'invalid'}`, () => {
    const complaint = validateProperties(value as Record<string, unknown>);
    assert.equal(complaint === undefined, fits);
  });
}

const names: [why: string, name: unknown, kept: string | null | undefined][] = [
  ['none', undefined, null],
  ['null', null, null],
  ['spaces alone', '  ', null],
  ['spaces around it', ' Ann ', 'Ann'],
  ['200 characters', 'a'.repeat(200), 'a'.repeat(200)],
  ['200 characters of two units each', '👩'.repeat(200), '👩'.repeat(200)],
  ['201 characters', 'a'.repeat(201), undefined],
  ['a joiner', 'می‌خواهم', 'می‌خواهم'],
  ['a line end', 'Ann\nBcc: x', undefined],
  ['a C1 control character', 'Ann\u0085', undefined],
  ['a mark that turns the direction around', 'Ann\u202e', undefined],
  ['NUL', 'Ann\u0000', undefined],
  ['half a surrogate pair', 'Ann\ud800', undefined],
  ['a number', 7, undefined],
];
for (const [why, name, kept] of names) {
  test(`name with ${why} is ${kept === undefined ? 'refused' : 'accepted'}`, () => {
    const checked = checkContact({ email: 'ann@people.test', name });
    if (kept === undefined) assert.equal('field' in checked && checked.field, 'name');
    else assert.equal('name' in checked && checked.name, kept);
  });
}

test('email and name columns are recognized in several languages', () => {
  const addresses = [
    'Email',
    'E-mail address',
    'Mail',
    'Mail Address',
    'person_email',
    'Contact Email',
    'E-Mail-Adresse',
    'Mailadresse',
    'Adresse e-mail',
    'Courriel',
    'Correo electrónico',
    'Indirizzo e-mail',
    'Endereço de e-mail',
    'E-mailadres',
    'Adres e-mail',
    'メールアドレス',
    'البريد الإلكتروني',
  ];
  const names = [
    'Name',
    'Full Name',
    'Person Name',
    'contact_name',
    'Vor- und Nachname',
    'Nom',
    'Nombre',
    'Nome',
    'Naam',
    'Imię i nazwisko',
    '名前',
    'الاسم',
  ];
  const languages = ['Language', 'Sprache', 'Langue', 'Idioma', 'Lingua', 'Taal', 'Język', '言語'];
  const columnsOf = (headers: string[]) => [
    ...new Set(headers.map(headerKey).map(contactColumnOf)),
  ];
  assert.deepEqual(columnsOf(addresses), ['email']);
  assert.deepEqual(columnsOf(names), ['name']);
  assert.deepEqual(columnsOf(languages), ['language']);
});

test('parts of a name are recognized in ten languages', () => {
  const pairs =
    'First Name/Last name Vorname/Nachname Prénom/Nom_de_famille Nombre_de_pila/Apellidos Primo_nome/Cognome Primeiro_nome/Sobrenome Voornaam/Achternaam Imię/Nazwisko الاسم_الأول/اسم_العائلة 名/姓';
  for (const pair of pairs.replace('First ', 'First_').replace('Last ', 'Last_').split(' ')) {
    const [first = '', last = ''] = pair.split('/').map((name) => headerKey(name));
    assert.ok(contactHeaders.first_name.includes(first), pair);
    assert.ok(contactHeaders.last_name.includes(last), pair);
  }
});

for (const [name, first, last, joined] of [
  ['', 'Ann', 'Böhm', 'Ann Böhm'],
  ['', 'Ann', '', 'Ann'],
  ['Ann Böhm', 'Ann', 'Böhm', 'Ann Böhm'],
  ['Ann Böhm', 'Ann', '', 'Ann Böhm'],
  ['Böhm', 'Ann', '', 'Ann Böhm'],
  ['Anna', '', 'Rossi', 'Anna Rossi'],
  ['', '健', '山田', '山田 健'],
  ['Ann\nBöhm', '', '', 'Ann Böhm'],
] as const) {
  test(`joins the name of ${JSON.stringify({ name, first, last })}`, () => {
    assert.equal(fullName({ name, first, last }), joined);
  });
}

test('contact errors name the field, or the line in a file', () => {
  const ann = 'ann@people.test';
  const said = (contact: Parameters<typeof checkContact>[0]) => {
    const checked = checkContact(contact);
    if (!('field' in checked)) return [];
    const { email } = contact;
    return [checked.field, describeRowError(checked, typeof email === 'string' ? email : null)];
  };
  assert.deepEqual(said({ email: ann }), []);
  assert.deepEqual(said({}), ['email', 'the email is missing']);
  assert.deepEqual(said({ email: 'ann' }), ['email', '"ann" is not an email address']);
  assert.deepEqual(said({ email: ann, name: 7 }), ['name', 'the name must be text']);
  assert.deepEqual(said({ email: ann, name: 'a\nb' }), [
    'name',
    'the name must be one line without control characters',
  ]);
  assert.deepEqual(said({ email: ann, properties: [] }), [
    'properties',
    'the properties must be an object',
  ]);
  assert.equal(validateName(` ${'a'.repeat(200)} `), undefined);
  assert.equal(validateName('a'.repeat(201)), 'must be at most 200 characters');
  const wrong: [object, string][] = [
    [ofBytes(16_385), 'must be at most 16384 bytes as JSON'],
    [nested(33), 'must be at most 32 levels deep'],
    [{ a: Number.NaN }, 'must not contain NaN or Infinity'],
    [{ a: '\0' }, 'must not contain the character NUL'],
    [{ a: '\ud800' }, 'must not contain lone surrogates'],
    [JSON.parse('{"__proto__": 1}'), 'must not have a field named __proto__'],
  ];
  for (const [properties, complaint] of wrong)
    assert.equal(validateProperties(properties), complaint);
});

test('contact keeps the case of its address and compares in lower case', () => {
  assert.partialDeepStrictEqual(checkContact({ email: ' Ann@People.test ', properties: null }), {
    email: 'Ann@People.test',
    key: 'ann@people.test',
    name: null,
    properties: {},
  });
});
