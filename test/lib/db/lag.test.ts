import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLag } from '../../../src/lib/db/replica.ts';

const second = 1000;

test('an idle primary causes no lag', () => {
  const lag = createLag();
  for (let at = 0; at <= 600 * second; at += second) {
    lag.primaryIsAt(100, at);
    lag.replicaIsAt(100, at);
  }
  assert.equal(lag.seconds(600 * second), 0);
});

test('a stopped replica lags since the primary moved on', () => {
  const lag = createLag();
  lag.primaryIsAt(100, 0);
  lag.replicaIsAt(100, 0);
  lag.primaryIsAt(100, 50 * second);
  for (let at = 51; at <= 60; at++) {
    lag.primaryIsAt(100 + at, at * second);
    lag.replicaIsAt(100, at * second);
  }
  assert.equal(lag.seconds(60 * second), 10);
});

test('a replica that follows at a distance lags by that distance', () => {
  const lag = createLag();
  for (let at = 0; at <= 30; at++) {
    lag.primaryIsAt(at, at * second);
    if (at >= 5) lag.replicaIsAt(at - 5, at * second);
  }
  assert.equal(lag.seconds(30 * second), 5);
});

test('lag is infinite until the replica reaches a known position', () => {
  const lag = createLag();
  lag.primaryIsAt(100, 0);
  lag.replicaIsAt(50, second);
  assert.equal(lag.seconds(second), Number.POSITIVE_INFINITY);
});
