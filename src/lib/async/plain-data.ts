/**
 * What differs in JSON when it differs, so that JSON can stand for it: a function or a map would be taken for equal to
 * any other. `unknown` is what a column of JSON holds.
 */
export type PlainData<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined | Date
    ? T
    : T extends
          | ((...given: never[]) => unknown)
          | ReadonlyMap<unknown, unknown>
          | ReadonlySet<unknown>
      ? never
      : { [Name in keyof T]: PlainData<T[Name]> };
