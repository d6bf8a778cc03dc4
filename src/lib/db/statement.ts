import type postgres from 'postgres';
import { createPlaces, type PathPlace } from '../async/places.ts';

type Db = postgres.Sql;

/** The template function of the driver: of the pool, or of a transaction. */
type Template = (first: unknown, ...rest: unknown[]) => unknown;
type Query = Promise<unknown> & { execute: () => Promise<unknown>; raw: () => Promise<unknown> };
type Strings = readonly string[] & { raw: readonly string[] };

/** What a driver's template function was made from; statements of ours are made of its queries. */
const drivers = new WeakMap<object, Db>();
/** What `sql(...)` made: names and lists of columns, which the driver writes into the text by what they hold. */
const builders = new WeakSet<object>();

/**
 * The same pool, whose statements may be put together of many parts at little cost. The driver makes a promise of
 * each part and joins its texts at each call; here a part is plain data, and the same parts in the same order come to
 * one text, which is made once.
 */
export function composing(driver: Db): Db {
  const begin = (...given: unknown[]) => {
    const work = given.pop() as (tx: unknown) => unknown;
    const beginAll = driver.begin as unknown as (...all: unknown[]) => unknown;
    return beginAll(...given, (tx: Template) => work(Object.assign(templateFor(tx), tx)));
  };
  const composed = Object.assign(templateFor(driver as unknown as Template), driver, { begin });
  drivers.set(composed, driver);
  return composed as unknown as Db;
}

/** What a composing pool sends its statements to: for what looks at them one by one. */
export const driverOf = (db: Db): Db => drivers.get(db) ?? db;

const templateFor =
  (driver: Template): Template =>
  (first, ...rest) => {
    if (isTemplate(first)) return new Statement(driver, first, rest);
    const made = driver(first, ...rest);
    builders.add(made as object);
    return made;
  };

/** A list of strings with its raw form: a row may have a column of that name, and a list of values has none. */
const isTemplate = (first: unknown): first is Strings => Array.isArray(first) && 'raw' in first;

/** A statement, or a part of one: which it is shows when it is awaited or built into another. */
export class Statement implements PromiseLike<unknown> {
  readonly driver: Template;
  readonly strings: Strings;
  readonly values: readonly unknown[];
  /** Of a part that is kept: its latest way through the places, null before the first. */
  walk: Walk | null | undefined = undefined;
  #query: Query | undefined;

  constructor(driver: Template, strings: Strings, values: readonly unknown[]) {
    this.driver = driver;
    this.strings = strings;
    this.values = values;
  }

  /** The driver sends it when it is awaited, or at once by this. */
  execute(): Promise<unknown> {
    return this.#made().execute();
  }

  /** The driver gives each row as the bytes of its columns. */
  raw() {
    return this.#made().raw();
  }

  #made(): Query {
    this.#query ??= toQuery(this) as Query;
    return this.#query;
  }

  // biome-ignore lint/suspicious/noThenProperty: it is awaited like the driver's queries
  then<A = unknown, B = never>(
    done?: ((rows: unknown) => A | PromiseLike<A>) | null,
    failed?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#made().then(done, failed);
  }

  catch<B = never>(failed?: ((error: unknown) => B | PromiseLike<B>) | null) {
    return this.#made().catch(failed);
  }

  finally(ended?: (() => void) | null) {
    return this.#made().finally(ended);
  }
}

/** At the end of a statement it knows its text, cut where its parameters stand. */
type Place = PathPlace<unknown, Strings>;
type Walk = { from: Place; to: Place; parameters: readonly unknown[] };

const parameter = Symbol('parameter');
/** What code can put together is far less; filters of lists are many. */
const mostPlaces = 50_000;
const { root, step } = createPlaces<unknown, Strings>(mostPlaces);

function toQuery(statement: Statement): unknown {
  const parameters: unknown[] = [];
  const place = collect(statement, root(), parameters);
  if (!place) return toDriver(statement);
  place.known ??= cutText(statement);
  return statement.driver(place.known, ...parameters);
}

/** Walks through the parts and collects what they bring; undefined where the text depends on a value. */
function collect(statement: Statement, from: Place, parameters: unknown[]): Place | undefined {
  const { walk } = statement;
  if (walk === undefined) return collectParts(statement, from, parameters);
  if (walk?.from === from) {
    parameters.push(...walk.parameters);
    return walk.to;
  }
  const own: unknown[] = [];
  const to = collectParts(statement, from, own);
  if (to) statement.walk = { from, to, parameters: own };
  parameters.push(...own);
  return to;
}

function collectParts(
  { strings, values }: Statement,
  from: Place,
  parameters: unknown[],
): Place | undefined {
  let place: Place | undefined = step(from, strings);
  for (const value of values) {
    if (value instanceof Statement) place = collect(value, place, parameters);
    else if (isText(value)) return undefined;
    else {
      parameters.push(value);
      place = step(place, parameter);
    }
    if (!place) return undefined;
  }
  return place;
}

const isText = (value: unknown) =>
  typeof value === 'object' &&
  value !== null &&
  (builders.has(value) || (Array.isArray(value) && value[0] instanceof Statement));

function cutText(statement: Statement): Strings {
  const pieces = [''];
  append(statement, pieces);
  return Object.assign(pieces, { raw: pieces });
}

function append({ strings, values }: Statement, pieces: string[]) {
  for (const [at, string] of strings.entries()) {
    pieces[pieces.length - 1] += string;
    if (at === values.length) return;
    const value = values[at];
    if (value instanceof Statement) append(value, pieces);
    else pieces.push('');
  }
}

/** The statement as the driver puts it together itself. */
function toDriver({ driver, strings, values }: Statement): unknown {
  return driver(strings, ...values.map((value) => driverValue(value)));
}

function driverValue(value: unknown): unknown {
  if (value instanceof Statement) return toDriver(value);
  if (Array.isArray(value) && value[0] instanceof Statement) return value.map(driverValue);
  return value;
}
