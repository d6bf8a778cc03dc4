import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOutage } from '../../../src/lib/log/log.ts';
import { keptLog } from '../../support/probe/log.ts';

const words = { begins: 'nothing goes out, trying on', over: 'all goes out again' };
const begins = (count: number) => ['warn', words.begins, { count }];
const over = ['info', words.over, {}];

test('an outage is logged when it begins and when everything works again', () => {
  const { lines, log } = keptLog();
  const outage = createOutage(log, words);
  const [one, other, third] = [{}, {}, {}];
  outage.worked(one);
  assert.deepEqual(lines, []);
  outage.failed(one, { count: 1 });
  outage.failed(one, { count: 2 });
  outage.failed(other, { count: 3 });
  outage.worked(one);
  outage.worked(third);
  assert.deepEqual(lines, [begins(1)]);
  outage.worked(other);
  outage.worked(other);
  assert.deepEqual(lines.splice(0), [begins(1), over]);
  outage.failed(one, { count: 4 });
  assert.deepEqual(lines, [begins(4)]);
});
