import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { operatorFiles } from '../src/operations/archive.ts';
import { testDatabase } from './support/probe/database.ts';
import { requestStream } from './support/probe/request-stream.ts';
import { until } from './support/probe/until.ts';
import { bringPackage, inside, traces, writeInside } from './support/processes/debian.ts';
import { freePort } from './support/processes/free-port.ts';
import { secretKey } from './support/processes/program.ts';

/** Installs, runs and purges the package in a Debian with its own systemd, which shares the network of this machine. */
const port = freePort();
const url = `http://127.0.0.1:${port}`;
const property = (name: string) => inside(`systemctl show --property=${name} --value askback`);
const isReady = async () => (await fetch(`${url}/readyz`)).status === 200;

before(bringPackage);

describe('installing', () => {
  test('the package creates an account and a folder, and starts nothing', async () => {
    await inside('dpkg --force-unsafe-io --install /askback.deb');
    assert.match(
      await inside('getent passwd askback'),
      /:\/var\/lib\/askback:\/usr\/sbin\/nologin$/,
    );
    assert.equal(
      await inside('stat -c "%U:%G %a" /var/lib/askback /etc/askback/askback.env'),
      'askback:askback 700\nroot:askback 640',
    );
    assert.equal(await inside('ls -A /var/lib/askback'), '');
    assert.equal(
      await inside('systemctl is-active askback askback.socket || :'),
      'inactive\ninactive',
    );
    assert.equal(await inside('systemctl is-enabled askback || :'), 'disabled');
  });

  test('the package installs every file that its pages link to', async () => {
    await inside(`cd /usr/share/doc/askback && ls -L ${operatorFiles().join(' ')}`);
  });

  test('the units are valid and have an exposure of at most 2.0', async (t) => {
    await inside('systemd-analyze verify --man=no askback.service askback.socket');
    const unit = '/usr/lib/systemd/system/askback.service';
    const judged = await inside(`systemd-analyze security --offline=true --threshold=20 ${unit}`);
    t.diagnostic(/Overall exposure level.*/.exec(judged)![0]);
  });
});

describe('as a service', () => {
  test("the service answers on systemd's port once systemctl reports it active", async () => {
    writeInside(
      '/etc/systemd/system/askback.socket.d/port.conf',
      `[Socket]\nListenStream=\nListenStream=127.0.0.1:${port}\n`,
    );
    await inside('systemctl daemon-reload && systemctl enable --now askback.socket askback');
    assert.ok(await isReady());
    assert.equal(await property('StatusText'), `serving on ${url}`);
  });

  test('the service and its Postgres have no privilege and no way to get one', async () => {
    const pids = await inside(
      'cat /sys/fs/cgroup/systemd/system.slice/askback.service/cgroup.procs',
    );
    assert.ok(pids.split('\n').length > 3);
    for (const pid of pids.split('\n')) {
      const status = await inside(`cat /proc/${pid}/status`);
      assert.match(status, /^CapBnd:\t0+$/m);
      assert.match(status, /^NoNewPrivs:\t1$/m);
      assert.match(status, /^Seccomp:\t2$/m);
      assert.doesNotMatch(status, /^Uid:.*\b0\b/m);
    }
  });

  test('restarts by systemd refuse and cut off no request', async (t) => {
    const { requests, end } = requestStream(`${url}/openapi.json`, {
      fresh: 3,
      keeping: 3,
      headers: {},
    });
    for (let restart = 0; restart < 2; restart++) {
      const answered = requests.length;
      await until('each process is asked a few times', () => requests.length > answered + 50);
      await inside('systemctl restart askback');
    }
    await end();
    t.diagnostic(`${requests.length} requests`);
    assert.deepEqual(new Set(requests.map(({ status }) => status)), new Set([200]));
  });

  test('a killed service is started again by systemd', async () => {
    await inside('kill -KILL $(systemctl show --property=MainPID --value askback)');
    await until('systemd starts it', async () => (await property('NRestarts')) === '1');
    assert.ok(await isReady());
  });

  test('the service stays down until invalid settings are corrected', async () => {
    await inside('echo LOG_LEVEL=loud >> /etc/askback/askback.env');
    await assert.rejects(inside('systemctl restart askback'));
    assert.equal(await property('ExecMainStatus'), '2');
    assert.equal(await property('ActiveState'), 'failed');
    await inside('sed -i /loud/d /etc/askback/askback.env && systemctl start askback');
    assert.ok(await isReady());
  });

  test('secrets of an external database appear in no environment', async () => {
    const { url: database } = await testDatabase();
    writeInside('/etc/askback/secrets/database-url', `${database}\n`, 0o600);
    writeInside('/etc/askback/secrets/secret-key', `${secretKey}\n`, 0o600);
    const overriding = '/etc/systemd/system/askback.service.d';
    await inside(`mkdir ${overriding} &&
      cp /usr/share/askback/systemd/external-database.conf ${overriding} &&
      systemctl daemon-reload && systemctl restart askback`);
    assert.ok(await isReady());
    const environ = await inside(`cat /proc/${await property('MainPID')}/environ | tr '\\0' '\\n'`);
    assert.match(
      environ,
      /^DATABASE_URL_FILE=\/run\/credentials\/askback\.service\/database-url$/m,
    );
    assert.doesNotMatch(environ, new RegExp(`postgres://|${secretKey.slice(0, 20)}`));
    await inside(`rm -r ${overriding} /etc/askback/secrets && systemctl daemon-reload &&
      systemctl restart askback`);
    assert.ok(await isReady());
  });

  test('commands find the installation with the settings of the service', async () => {
    const command = 'set -a; . /etc/askback/askback.env; askback org create --name Nord --json';
    assert.equal(JSON.parse(await inside(command)).name, 'Nord');
  });
});

describe('removing', () => {
  test('an upgrade of the package does not stop the running service', async () => {
    const running = await property('MainPID');
    await inside('dpkg --force-unsafe-io --install /askback.deb');
    assert.equal(await property('MainPID'), running);
    assert.ok(await isReady());
  });

  test('removing the package stops the service, and keeps settings and data', async () => {
    await inside('dpkg --remove askback');
    await assert.rejects(fetch(url));
    assert.equal(
      await traces(),
      [
        '/etc/askback',
        '/etc/askback/askback.env',
        '/etc/systemd/system/askback.socket.d',
        '/var/lib/askback',
        '/var/lib/dpkg/info/askback.list',
        '/var/lib/dpkg/info/askback.postrm',
      ].join('\n'),
    );
  });

  test('installing the package again continues with the same data', async () => {
    await inside(
      'dpkg --force-unsafe-io --install /askback.deb && systemctl start askback.socket askback',
    );
    const list = await inside('set -a; . /etc/askback/askback.env; askback org list --json');
    assert.equal(JSON.parse(list)[0]?.name, 'Nord');
  });

  test('a purge keeps the database unless the operator confirmed it', async () => {
    await inside('rm -r /etc/systemd/system/askback.socket.d && dpkg --purge askback');
    assert.equal(await traces(), '/var/lib/askback');
    assert.match(await inside('stat -c %U /var/lib/askback/cluster'), /^askback$/);
  });

  test('purging the package deletes everything after a confirmation', async () => {
    await inside('dpkg --force-unsafe-io --install /askback.deb && touch /var/lib/askback/purge');
    await inside('dpkg --purge askback');
    assert.equal(await traces(), '');
    await assert.rejects(inside('getent passwd askback'));
    await assert.rejects(inside('getent group askback'));
  });
});
