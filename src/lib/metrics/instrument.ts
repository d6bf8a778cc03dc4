/** One thing that is counted or measured, as plain data. */
export type Instrument = {
  /** As Prometheus spells it, with its unit and `_total`. */
  name: string;
  kind: 'counter' | 'histogram' | 'gauge';
  help: string;
  unit?: 'seconds';
  /** `recorded` when something happens, or `observed` when somebody asks. */
  how: 'recorded' | 'observed';
  /**
   * Each label with all values that it can have; any other counts as `other`. Null where the values are
   * not known here, but are few by their nature.
   */
  labels: Readonly<Record<string, readonly string[] | null>>;
  /** A counter that is there with 0 for each of its labels' values before anything happens. */
  fromZero?: boolean;
  buckets?: readonly number[];
  /** How OpenTelemetry's conventions spell it and its labels, where they know such a thing. */
  convention?: { name: string; labels: Readonly<Record<string, string>> };
};

export type Labels = Readonly<Record<string, string>>;

/** One count, or one value of a histogram. */
export type Measurement = { name: string; labels: Labels; value?: number };

export type Reading = { labels: Labels; value: number };

/** What was observed just now, by instrument. One that is missing could not be observed. */
export type Readings = Readonly<Record<string, readonly Reading[]>>;

export const other = 'other';

/** The same labels with nothing in them that the instrument does not know. */
export function knownLabels({ labels: known }: Instrument, given: Labels): Labels {
  const labels: Record<string, string> = {};
  for (const name in known) {
    const value = given[name] ?? '';
    const values = known[name];
    labels[name] = values == null || values.includes(value) ? value : other;
  }
  return labels;
}

/** Every combination of the values that an instrument's labels can have. */
export function allLabels({ labels }: Instrument): Labels[] {
  return Object.entries(labels).reduce<Labels[]>(
    (made, [name, values]) =>
      made.flatMap((rest) => (values ?? []).map((value) => ({ ...rest, [name]: value }))),
    [{}],
  );
}
