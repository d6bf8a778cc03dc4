import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import fc from 'fast-check';
import { shareReads } from '../../../src/lib/async/shared-reads.ts';

type Asked = { tenant: string };

/** Something that is written, and reads of it that take their values and end when the test says so. */
function heldStore() {
  const written = new Map<string, number>();
  const open: { tenant: string; value?: number; end: PromiseWithResolvers<void> }[] = [];
  let reads = 0;
  async function read({ tenant }: Asked) {
    reads += 1;
    const own = { tenant, end: Promise.withResolvers<void>() } as (typeof open)[number];
    open.push(own);
    await own.end.promise;
    return { tenant, value: own.value ?? writtenOf(tenant) };
  }
  const writtenOf = (tenant: string) => written.get(tenant) ?? 0;
  return {
    read,
    reads: () => reads,
    writtenOf,
    open: () => open,
    write: (tenant: string) => written.set(tenant, writtenOf(tenant) + 1),
    /** The nth of the reads that run sees what is written now, unless it did so before. */
    look(at: number) {
      const own = open[at % Math.max(open.length, 1)];
      if (own) own.value ??= writtenOf(own.tenant);
    },
    async end(at: number, error?: Error) {
      const [own] = open.splice(at % Math.max(open.length, 1), 1);
      if (error) own?.end.reject(error);
      else own?.end.resolve();
      await turn();
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a caller that asks alone is read for at once', async () => {
  const { read, reads, end } = heldStore();
  const share = shareReads(read);
  const found = share({ tenant: 'a' });
  assert.equal(reads(), 1);
  await end(0);
  assert.deepEqual(await found, { tenant: 'a', value: 0 });
});

test('a thousand that ask at once cost two reads', async () => {
  const { read, reads, end } = heldStore();
  const share = shareReads(read);
  const found = Array.from({ length: 1000 }, () => share({ tenant: 'a' }));
  assert.equal(reads(), 1);
  await end(0);
  assert.equal(reads(), 2);
  await end(0);
  const values = await Promise.all(found);
  assert.equal(new Set(values).size, 2);
  assert.equal(reads(), 2);
});

test('each caller reads what was written before it asked, whatever runs meanwhile', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constantFrom('ask', 'write'), tenant: fc.constantFrom('a', 'b') }),
    fc.record({ do: fc.constantFrom('look', 'end', 'fail'), at: fc.nat(3) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const store = heldStore();
      const share = shareReads(store.read);
      const answers: Promise<void>[] = [];
      const ask = (tenant: string) => {
        const least = store.writtenOf(tenant);
        const check = (found: { tenant: string; value: number }) => {
          assert.equal(found.tenant, tenant);
          assert.ok(found.value >= least, `read ${found.value} after ${least} was written`);
        };
        answers.push(
          share({ tenant }).then(check, (error: Error) => assert.equal(error.message, 'away')),
        );
      };
      for (const each of steps) {
        if ('tenant' in each) (each.do === 'ask' ? ask : store.write)(each.tenant);
        else if (each.do === 'look') store.look(each.at);
        else await store.end(each.at, each.do === 'fail' ? new Error('away') : undefined);
        const tenants = store.open().map(({ tenant }) => tenant);
        assert.equal(tenants.length, new Set(tenants).size, 'at most one read of each runs');
      }
      while (store.open().length > 0) await store.end(0);
      await Promise.all(answers);
      const before = store.reads();
      const alone = share({ tenant: 'a' });
      assert.equal(store.reads(), before + 1, 'nothing is kept');
      await store.end(0);
      await alone;
    }),
  );
});

test('all who share a read get its error, and the next is read again', async () => {
  const { read, end } = heldStore();
  const share = shareReads(read);
  const first = share({ tenant: 'a' });
  const others = [share({ tenant: 'a' }), share({ tenant: 'a' })];
  const away = new Error('away');
  const refused = assert.rejects(first, away);
  await end(0, away);
  await refused;
  const last = share({ tenant: 'a' });
  const allRefused = Promise.all(others.map((other) => assert.rejects(other, away)));
  await end(0, away);
  await allRefused;
  await end(0);
  assert.deepEqual(await last, { tenant: 'a', value: 0 });
});

test('a read that throws before it begins fails its callers alone', async () => {
  let fails = true;
  const share = shareReads(({ tenant }: Asked): Promise<string> => {
    if (fails) throw new Error('broken');
    return Promise.resolve(tenant);
  });
  await assert.rejects(share({ tenant: 'a' }), /broken/);
  fails = false;
  assert.equal(await share({ tenant: 'a' }), 'a');
});

test('a read runs in the context of its first caller, and the others learn of it', async () => {
  const group = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const { read, end } = heldStore();
  const shared: string[] = [];
  const share = shareReads(
    (asked: Asked) => {
      seen.push(group.getStore());
      return read(asked);
    },
    (caller: string, firstCaller) => void shared.push(`${caller} by ${firstCaller}`),
  );
  const found = ['one', 'two', 'three'].map((name) =>
    group.run(name, () => share({ tenant: 'a' }, name)),
  );
  await end(0);
  await end(0);
  await Promise.all(found);
  assert.deepEqual(seen, ['one', 'two']);
  assert.deepEqual(shared, ['three by two']);
});
