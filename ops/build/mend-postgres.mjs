import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { speedups } from './postgres-speedups.mjs';

/**
 * Mends mistakes of postgres 3.4.9 (porsager/postgres#1154, #1208) that end a process or lame it when a
 * connection is lost at a bad moment, or slow it down with each statement, and makes its statements cheaper. Runs after each installation; plain JavaScript, for any Node runs it.
 * `test/lib/db/db-lost.pg.test.ts` shows what happens without it.
 */
const mends = [
  {
    // A transaction whose connection is gone goes on sending: to no socket, which nobody can catch, or to
    // the same slot's next connection, outside of any transaction.
    file: 'src/index.js',
    from: 'new Promise((_, reject) => connection.onclose = reject)',
    to: 'new Promise((_, reject) => connection.onclose = e => { lost = e; reject(e) })',
  },
  {
    file: 'src/index.js',
    from: '      , connection\n      , prepare = null',
    to: '      , connection\n      , lost = null\n      , prepare = null',
  },
  {
    file: 'src/index.js',
    from: `        q.catch(e => uncaughtError || (uncaughtError = e))
        c.queue === full`,
    to: `        q.catch(e => uncaughtError || (uncaughtError = e))
        if (lost)
          return q.reject(lost)
        c.queue === full`,
  },
  {
    // What was about to be written when the connection closed would go before the greeting of the next one,
    // and keep it from ever being sent.
    file: 'src/connection.js',
    from: `    incomings = null
    clearImmediate(nextWriteTimer)
    socket.removeListener`,
    to: `    incomings = null
    clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
    socket.removeListener`,
  },
  {
    // What was under way when the connection broke would be taken for what goes on in the next one, and what
    // the last one ended with for the answer to the first question there.
    file: 'src/connection.js',
    from: `    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))
`,
    to: `    if (query || sent.length)
      error(Errors.connection('CONNECTION_CLOSED', options, socket))
    query = results = errorResponse = null
`,
  },
  {
    file: 'src/connection.js',
    from: `    if (initial)
      return reconnect()

    `,
    to: `    if (initial) {
      query = results = errorResponse = null
      while (sent.length) sent.shift()
      return reconnect()
    }

    `,
  },
  {
    // A queue that is never empty, such as that of the connections without a statement, kept a place for all that had
    // ever been in it, and looked through them for each statement.
    file: 'src/queue.js',
    from: `      const index = xs.indexOf(x)
      return index === -1
        ? null
        : (xs.splice(index, 1), x)`,
    to: `      const at = xs.indexOf(x, index)
      return at === -1
        ? null
        : (xs.splice(at, 1), x)`,
  },
  {
    file: 'src/queue.js',
    from: `        xs[index - 1] = undefined
`,
    to: `        xs[index - 1] = undefined
        if (index >= 32 && index * 2 >= xs.length) {
          xs.splice(0, index)
          index = 0
        }
`,
  },
];

for (const file of new Set([...mends, ...speedups].map((change) => change.file))) {
  const path = fileURLToPath(new URL(`../../node_modules/postgres/${file}`, import.meta.url));
  // As it was before its first change, so that other changes can follow without another installation.
  const before = `${path}.before`;
  if (!existsSync(before)) copyFileSync(path, before);
  const isIts = (change) => change.file === file;
  const mended = mends.filter(isIts).reduce(mend, readFileSync(before, 'utf8'));
  writeFileSync(`${path}.new`, speedups.filter(isIts).reduce(change, mended));
  renameSync(`${path}.new`, path);
}

/** An installation may have been mended before what it was then was kept. */
function mend(text, { file, from, to }) {
  return text.includes(to) ? text : change(text, { file, from, to });
}

function change(text, { file, from, to }) {
  if (text.split(from).length !== 2) throw new Error(`${file} of postgres is not the one to mend`);
  return text.replace(from, () => to);
}
