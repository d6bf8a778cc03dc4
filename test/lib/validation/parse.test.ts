import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import type { Refusal } from '../../../src/errors.ts';
import {
  BooleanParameter,
  parse,
  parseQuery,
  parseWriteQuery,
  Uuid,
} from '../../../src/lib/validation/parse.ts';

const Contact = v.object({
  email: v.pipe(v.string(), v.email('must be an address'), v.maxLength(9, 'must be short')),
  age: v.number('must be a number'),
  tags: v.optional(v.array(v.string('must be text')), []),
});

test('every mistake of a body is named, each field once, in the order of its fields', () => {
  const given = { email: 'not an address', tags: ['a', 1, 'b', 2] };
  assert.equal(
    refusalOf(() => parse(Contact, given)).message,
    'email: must be an address; age is required; tags.1: must be text; tags.3: must be text',
  );
});

test('of very many mistakes five are named and the rest counted', () => {
  const given = { email: 'a@b.test', age: 1, tags: Array.from({ length: 1000 }, () => 1) };
  const { message } = refusalOf(() => parse(Contact, given));
  assert.match(message, /^tags\.0: must be text; .*; tags\.4: must be text; and 995 more$/);
});

test('one mistake is one sentence', () => {
  assert.equal(refusalOf(() => parse(Contact, { age: 1 })).message, 'email is required');
  assert.equal(
    refusalOf(() => parse(v.string('must be text'), 1)).message,
    'the body: must be text',
  );
});

const Query = v.object({ dry_run: v.optional(BooleanParameter), to2: v.optional(v.string()) });

test('a write refuses what is all but the name of a parameter, and ignores other words', () => {
  for (const name of ['dryrun', 'DRY_RUN', 'dry-run', 'dryRun', 'dry_run[]', 'to_2']) {
    const { kind, message } = refusalOf(() => parseWriteQuery(Query, { [name]: ['true'] }));
    assert.equal(kind, 'invalid');
    assert.equal(
      message,
      `${name} is no parameter here: write ${name.startsWith('to') ? 'to2' : 'dry_run'}`,
    );
  }
  const others = { dry: ['true'], run: ['true'], to: ['1'], '': ['x'], dry_runs: ['true'] };
  assert.deepEqual(parseWriteQuery(Query, { ...others, dry_run: ['true'] }), { dry_run: true });
});

test('a read goes on ignoring it', () => {
  assert.deepEqual(parseQuery(Query, { dryRun: ['true'] }), {});
});

test('of a parameter that is given twice the first value counts, but a boolean must be given once', () => {
  assert.deepEqual(parseQuery(Query, { to2: ['a', 'b'] }), { to2: 'a' });
  assert.deepEqual(parseQuery(Query, { dry_run: ['false'] }), { dry_run: false });
  for (const values of [
    ['true', 'false'],
    ['true', 'true'],
  ]) {
    const { message } = refusalOf(() => parseQuery(Query, { dry_run: values }));
    assert.equal(message, 'dry_run: must be given once');
  }
  const schema = v.object({ tag: v.optional(v.pipe(v.array(v.string()), v.maxLength(2)), []) });
  assert.deepEqual(parseQuery(schema, { tag: ['a', 'b'] }), { tag: ['a', 'b'] });
});

test('of six mistakes five are named, and of five all', () => {
  const mistakes = (count: number) =>
    refusalOf(() =>
      parse(
        v.array(v.string('no')),
        Array.from({ length: count }, () => 1),
      ),
    ).message;
  assert.equal(mistakes(5), '0: no; 1: no; 2: no; 3: no; 4: no');
  assert.equal(mistakes(6), '0: no; 1: no; 2: no; 3: no; 4: no; and 1 more');
});

test('a bad value of a parameter that may be given several times has the name of the parameter', () => {
  const schema = v.object({ tag: v.optional(v.array(Uuid), []) });
  const { message } = refusalOf(() => parseQuery(schema, { tag: ['vip', 'gold'] }));
  assert.equal(message, 'tag: must be a UUID');
});

test('a name that is no line of text is shown as one', () => {
  const { message } = refusalOf(() => parseWriteQuery(Query, { 'dry\nrun': ['true'] }));
  assert.equal(message, 'dry run is no parameter here: write dry_run');
});

function refusalOf(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    return error as Refusal;
  }
  throw new Error('nothing was refused');
}
