export type Environment = Readonly<Record<string, string | undefined>>;
export type ReadFile = (path: string) => string;

/**
 * The values of the named settings. Each may be given as a file: NAME_FILE holds its path. An empty
 * setting counts as not given.
 */
export function readValues(names: readonly string[], environment: Environment, readFile: ReadFile) {
  const values: Record<string, string> = {};
  const fromFiles: Record<string, string> = {};
  const complaints: string[] = [];
  for (const name of names) {
    const [value, path] = [environment[name], environment[`${name}_FILE`]];
    if (value && path) complaints.push(`${name}: is given twice, also as ${name}_FILE`);
    if (value) values[name] = value;
    else if (path) {
      const why = failureOf(() => {
        fromFiles[name] = readFile(path).replace(/\r?\n$/, '');
      });
      if (why) complaints.push(`${name}_FILE: cannot be read: ${why}`);
    }
  }
  return { values: { ...values, ...fromFiles }, fromFiles, complaints };
}

/** Why a piece of work fails; undefined if it does not. */
export function failureOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
