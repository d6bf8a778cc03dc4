type Series = { name: string; labels: Record<string, string>; value: number };

export async function scrape(address: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${address}/metrics`, { headers });
  const text = await answer.text();
  const series = readSeries(text);
  return {
    status: answer.status,
    text,
    series,
    /** The sum of all series with this name and these labels, undefined if there are none. */
    value(name: string, labels: Record<string, string> = {}): number | undefined {
      const found = series.filter(
        (each) =>
          each.name === name &&
          Object.entries(labels).every(([label, value]) => each.labels[label] === value),
      );
      return found.length > 0 ? found.reduce((sum, { value }) => sum + value, 0) : undefined;
    },
  };
}

function readSeries(text: string): Series[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name, labels = '', value] = seriesForm.exec(line) ?? [];
    if (!name) throw new Error(`not a series: ${line}`);
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    return {
      name,
      labels: Object.fromEntries(pairs.map(([, label, text]) => [label!, text!])),
      value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value),
    };
  });
}

const seriesForm = /^([a-z_:][a-z0-9_:]*)(\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})? (\S+)(?: # .*)?$/i;
