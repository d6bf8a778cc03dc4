/** Leads to the files of what is filtered; a file has every page. It stands in the part that filters swap. */
export function ExportLinks({ path, query }: { path: string; query: URLSearchParams }) {
  const wanted = new URLSearchParams(query);
  for (const name of ['page', 'limit', 'cursor']) wanted.delete(name);
  const of = (format: string) => {
    const all = new URLSearchParams(wanted);
    all.set('format', format);
    return `${path}/export?${all}`;
  };
  return (
    <details class="menu">
      <summary class="button">Export</summary>
      <ul class="list end">
        <li>
          <a href={of('csv')} hx-boost="false">
            As CSV
          </a>
        </li>
        <li>
          <a href={of('jsonl')} hx-boost="false">
            As JSON Lines
          </a>
        </li>
      </ul>
    </details>
  );
}
