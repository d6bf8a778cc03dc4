/** A GET form: its path, and its fields with the values that they show. */
export type FilterForm = { path: string; fields: FilterField[] };
export type FilterField = { name: string; kind: string; value: string; values: string[] };

export const filterFormsOf = (html: string): FilterForm[] =>
  [...html.matchAll(/<form([^>]*\smethod="get"[^>]*)>([\s\S]*?)<\/form>/g)].map(
    ([, attributes, inner]) => ({
      path: attributeOf(attributes!, 'action')?.replace(/#.*/, '') ?? '',
      fields: [...inputsOf(inner!), ...selectsOf(inner!)],
    }),
  );

/** A value that the field can have and does not show by default, if possible. */
export const unlikeShown = ({ name, kind, value, values }: FilterField): string => {
  if (kind === 'date') return name.endsWith('_to') ? '2026-10-31' : '2026-10-02';
  if (name === 'property') return 'colour=blue';
  return kind === 'select' || kind === 'checkbox'
    ? values.at(-1)!
    : kind === 'hidden'
      ? value
      : value || 'zz';
};

const inputsOf = (html: string): FilterField[] =>
  [...html.matchAll(/<input([^>]*)>/g)].map(([, attributes]) => {
    const of = (name: string) => attributeOf(attributes!, name);
    const kind = of('type') ?? 'text';
    const isOff = kind === 'checkbox' && !/\schecked/.test(attributes!);
    return {
      name: of('name') ?? '',
      kind,
      value: isOff ? '' : (of('value') ?? ''),
      values: [of('value') ?? ''],
    };
  });

const selectsOf = (html: string): FilterField[] =>
  [...html.matchAll(/<select([^>]*)>([\s\S]*?)<\/select>/g)].map(([, attributes, inner]) => {
    const options = [...inner!.matchAll(/<option([^>]*)>/g)].map(([, option]) => ({
      value: attributeOf(option!, 'value') ?? '',
      isShown: /\sselected/.test(option!),
    }));
    const shown = options.find(({ isShown }) => isShown) ?? options[0];
    const values = options.map(({ value }) => value);
    return {
      name: attributeOf(attributes!, 'name') ?? '',
      kind: 'select',
      value: shown?.value ?? '',
      values,
    };
  });

const attributeOf = (attributes: string, name: string): string | undefined =>
  new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(attributes)?.[1]?.replaceAll('&amp;', '&');
