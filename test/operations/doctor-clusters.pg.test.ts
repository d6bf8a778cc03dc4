import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startCluster } from '../support/processes/cluster.ts';
import { askback, secretKey } from '../support/processes/program.ts';

const [{ primary }, { primary: stranger }] = [
  await startCluster({ after }),
  await startCluster({ after }),
];
const both = {
  DATABASE_URL: `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${stranger.port}/postgres`,
  ASKBACK_SECRET_KEY: secretKey,
  PORT: '0',
};
const sentence = /DATABASE_URL: its hosts are of different clusters, .* and .*: name the primary/;

test('serve, migrate and doctor refuse hosts of two clusters, and write to none', async () => {
  for (const command of ['serve', 'migrate']) {
    const { code, stderr } = await askback([command], both);
    assert.equal(code, 1, stderr);
    assert.match(stderr, sentence);
  }
  const doctor = await askback(['doctor'], both);
  assert.equal(doctor.code, 1);
  assert.match(doctor.stdout, sentence);
});
