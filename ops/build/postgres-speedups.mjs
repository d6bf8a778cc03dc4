/**
 * Changes of postgres 3.4.9 that make a statement cheaper and keep what it does; each is written against the text
 * that the mends leave. Every read is one statement, so the driver is most of its cost.
 * `test/lib/db/driver-speed.pg.test.ts` shows that the changed places do what they did.
 */
export const speedups = [
  {
    // The connection that was used last goes first: its Postgres process is still in the processor's caches, and what is
    // beyond the usual load stays idle.
    file: 'src/index.js',
    from: `    if (open.length)
      return go(open.shift(), query)
`,
    to: `    if (open.length)
      return go(open.pop(), query)
`,
  },
  {
    file: 'src/index.js',
    from: `    const c = open.length
      ? open.shift()
`,
    to: `    const c = open.length
      ? open.pop()
`,
  },
  {
    file: 'src/queue.js',
    from: `    push: (x) => (xs.push(x), x),
`,
    to: `    push: (x) => (xs.push(x), x),
    pop: () => {
      const out = xs.pop()
      if (index === xs.length) {
        index = 0
        xs = []
      }
      return out
    },
`,
  },
  {
    // What is written in one turn goes out together at the end of that turn: an immediate would wait for another
    // round of the event loop. Messages are new buffers, or constant ones, which nothing writes to afterwards.
    file: 'src/connection.js',
    from: `    chunk = chunk ? Buffer.concat([chunk, x]) : Buffer.from(x)
    if (fn || chunk.length >= 1024)
      return nextWrite(fn)
    nextWriteTimer === null && (nextWriteTimer = setImmediate(nextWrite))
    return true
  }

  function nextWrite(fn) {
    const x = socket.write(chunk, fn)
    nextWriteTimer !== null && clearImmediate(nextWriteTimer)
`,
    to: `    chunk = chunk ? Buffer.concat([chunk, x]) : x
    if (fn || chunk.length >= 1024)
      return nextWrite(fn)
    nextWriteTimer === null && process.nextTick(endTurn, nextWriteTimer = {})
    return true
  }

  function endTurn(turn) {
    turn === nextWriteTimer && nextWrite()
  }

  function nextWrite(fn) {
    const x = socket.write(chunk, fn)
`,
  },
  {
    file: 'src/connection.js',
    from: `    clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
    socket.removeListener`,
    to: `    chunk = nextWriteTimer = null
    socket.removeListener`,
  },
  {
    file: 'src/connection.js',
    from: `    clearImmediate(nextWriteTimer)
    if (socket)`,
    to: `    nextWriteTimer = null
    if (socket)`,
  },
  {
    // The text of a template whose values are all parameters is made once, and so is the name that a prepared
    // statement is found by: both are kilobytes, which were joined and hashed for each query.
    file: 'src/connection.js',
    from: `    const string = stringify(q, q.strings[0], q.args[0], parameters, types, options)
`,
    to: `    const constant = q.tagged && q.args.every(isParameter) ? constantOf(q.strings) : null
    constant && q.args.forEach(x => handleValue(x, parameters, types, options))
    const string = constant ? constant.text : stringify(q, q.strings[0], q.args[0], parameters, types, options)
`,
  },
  {
    file: 'src/connection.js',
    from: '    q.signature = q.prepare && types + string\n',
    to: '    q.signature = q.prepare && (constant ? signatureOf(constant, types.join()) : types + string)\n',
  },
  {
    file: 'src/connection.js',
    from: `function parseError(x) {`,
    to: `const constants = new WeakMap()

function isParameter(x) {
  return typeof x !== 'object' || x === null || !(
    x instanceof Query || x instanceof Builder || x instanceof Identifier || x[0] instanceof Query
  )
}

function constantOf(strings) {
  let constant = constants.get(strings)
  if (!constant) {
    const text = strings.reduce((before, after, i) => before + '$' + i + after)
    constants.set(strings, constant = { text, signatures: new Map() })
  }
  return constant
}

function signatureOf({ text, signatures }, types) {
  let signature = signatures.get(types)
  signature === undefined && signatures.set(types, signature = types + text)
  return signature
}

function parseError(x) {`,
  },
  {
    file: 'src/connection.js',
    from: 'import { stringify, handleValue, arrayParser',
    to: 'import { stringify, handleValue, Builder, Identifier, arrayParser',
  },
  {
    // Bind, Execute and Sync are written into one buffer, not into several that are then joined.
    file: 'src/connection.js',
    from: `  function prepared(q) {
    return Buffer.concat([`,
    to: `  function prepared(q) {
    if (!q.cursorFn)
      return Bind(q.parameters, q.statement.types, q.statement.name, q.cursorName, ExecuteUnnamed)

    return Buffer.concat([`,
  },
  {
    file: 'src/connection.js',
    from: `function Bind(parameters, types, statement = '', portal = '') {`,
    to: `function Bind(parameters, types, statement = '', portal = '', next = null) {`,
  },
  {
    file: 'src/connection.js',
    from: `    b.i16(0)

    return b.end()
  }

  function Parse(`,
    to: `    b.i16(0)

    return b.end(1, next)
  }

  function Parse(`,
  },
  {
    file: 'src/bytes.js',
    from: `  end(at = 1) {
    buffer.writeUInt32BE(b.i - at, at)
`,
    to: `  end(at = 1, next = null) {
    buffer.writeUInt32BE(b.i - at, at)
    next && (fit(next.length), b.i += next.copy(buffer, b.i))
`,
  },
  {
    // Accessors of the class in place of five properties that are defined for each result: not enumerable either.
    file: 'src/result.js',
    from: `  constructor() {
    super()
    Object.defineProperties(this, {
      count: { value: null, writable: true },
      state: { value: null, writable: true },
      command: { value: null, writable: true },
      columns: { value: null, writable: true },
      statement: { value: null, writable: true }
    })
  }
`,
    to: ['count', 'state', 'command', 'columns', 'statement']
      .map(
        (name) => `  #${name} = null
  get ${name}() { return this.#${name} }
  set ${name}(x) { this.#${name} = x }
`,
      )
      .join(''),
  },
  {
    // Messages are cut out of what has come, and what is left of it only at the end.
    file: 'src/connection.js',
    from: `    while (incoming.length > 4) {
      length = incoming.readUInt32BE(1)
      if (length >= incoming.length) {
        remaining = length - incoming.length
        incomings = [incoming]
        break
      }

      try {
        handle(incoming.subarray(0, length + 1))
      } catch (e) {
        query && (query.cursorFn || query.describeFirst) && write(Sync)
        errored(e)
      }
      incoming = incoming.subarray(length + 1)
      remaining = 0
      incomings = null
    }
`,
    to: `    const all = incoming
    let at = 0
    remaining = 0
    incomings = null
    while (all.length - at > 4) {
      length = all.readUInt32BE(at + 1)
      if (length >= all.length - at) {
        remaining = length - (all.length - at)
        incoming = all.subarray(at)
        incomings = [incoming]
        return
      }

      try {
        handle(all.subarray(at, at += length + 1))
      } catch (e) {
        query && (query.cursorFn || query.describeFirst) && write(Sync)
        errored(e)
      }
    }
    incoming = all.subarray(at)
`,
  },
  {
    // Methods of the class in place of functions of each query: those kept queries that had ended, with their results,
    // until V8's next collection of the old generation, which then came for every few thousand of them.
    file: 'src/query.js',
    from: `    this.resolve = x => (this.active = false, resolve(x))
    this.reject = x => (this.active = false, reject(x))
`,
    to: `    this.settle = { resolve, reject }
`,
  },
  {
    file: 'src/query.js',
    from: `  get origin() {`,
    to: `  resolve(x) {
    this.active = false
    this.settle.resolve(x)
  }

  reject(x) {
    this.active = false
    this.settle.reject(x)
  }

  get origin() {`,
  },
  // A query is sent once: what waits for it later makes no promise for that.
  ...['then', 'catch', 'finally'].map((name) => ({
    file: 'src/query.js',
    from: `  ${name}() {
    this.handle()
`,
    to: `  ${name}() {
    this.executed || this.handle()
`,
  })),
];
