type Environment = Readonly<Record<string, string | undefined>>;
type ReadFile = (path: string) => string;

/** Those that hold secrets may be kept in files, like our own settings. */
export function readFiles(environment: Environment, readFile: ReadFile) {
  const fromFiles: Record<string, string> = {};
  const complaints: string[] = [];
  for (const name of forEach('OTEL_EXPORTER_OTLP', 'HEADERS')) {
    const path = environment[`${name}_FILE`];
    if (path && environment[name]) {
      complaints.push(`${name}: is given twice, also as ${name}_FILE`);
    } else if (path) {
      const why = failureOf(() => {
        fromFiles[name] = readFile(path).replace(/\r?\n$/, '');
      });
      if (why) complaints.push(`${name}_FILE: cannot be read: ${why}`);
    }
  }
  return { fromFiles, complaints };
}

/** The SDK would go on without a certificate that it cannot read. */
export function unreadable(environment: Environment, readFile: ReadFile): string[] {
  const names = ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'].flatMap((what) =>
    forEach('OTEL_EXPORTER_OTLP', what),
  );
  return names.flatMap((name) => {
    const path = environment[name];
    const why = path && failureOf(() => readFile(path));
    return why ? [`${name}: cannot be read: ${why}`] : [];
  });
}

function failureOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The names of a setting for all signals and for each. */
export const forEach = (prefix: string, what: string) =>
  ['', 'TRACES_', 'METRICS_'].map((signal) => `${prefix}_${signal}${what}`);
