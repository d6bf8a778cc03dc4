import type { Child } from 'hono/jsx';

type FilterFormProps = {
  /** Where the list is; its filters are its query. */
  path: string;
  /** The id of the `Live` part that the filters are about. */
  updates: string;
  /** What stays in the query without a field of its own: names, each with a value. */
  hidden?: readonly (readonly [name: string, value: string])[];
  children?: Child;
};

/** Filters of a list: with script they hold as one types, and the address follows; without it by Apply. */
export function FilterForm({ path, updates, hidden = [], children }: FilterFormProps) {
  return (
    <form
      method="get"
      action={path}
      class="filters"
      hx-get={path}
      hx-trigger="input changed delay:300ms, submit"
      hx-target={`#${updates}`}
      hx-select={`#${updates}`}
      hx-swap="outerHTML"
      hx-replace-url="true"
      hx-sync="this:replace"
    >
      {hidden.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {children}
      <button type="submit">Apply</button>
    </form>
  );
}

type LiveProps = {
  id: string;
  /** Said aloud when the part was swapped: `12 of 340 responses`. */
  says: string;
  /** Asks for this part again every so many seconds, while the page is looked at. */
  every?: number | undefined;
  /** The page that has the part; needed with `every`. */
  path?: string;
  /** The id of a part elsewhere on that page, which is swapped together with this one. */
  also?: string;
  children?: Child;
};

/** A part of a page that is swapped by itself: after a filter changed, or every few seconds. */
export function Live({ id, says, every, path, also, children }: LiveProps) {
  const polling = every
    ? {
        'hx-get': path,
        'hx-trigger': `every ${every}s`,
        'hx-select': `#${id}`,
        'hx-target': 'this',
        'hx-swap': 'outerMorph',
        ...(also && { 'hx-select-oob': `#${also}:outerMorph` }),
      }
    : {};
  return (
    <div id={id} data-says={says} {...polling}>
      {children}
    </div>
  );
}
