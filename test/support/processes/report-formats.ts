const made = [
  'DateTimeFormat',
  'DisplayNames',
  'ListFormat',
  'NumberFormat',
  'PluralRules',
] as const;

/** Imported into a program before it starts: says which forms of dates, numbers and names it makes. */
for (const name of made) {
  const report = {
    construct(target: never, given: never[], newTarget: never) {
      process.stderr.write(`makes a ${name}\n`);
      return Reflect.construct(target, given, newTarget) as object;
    },
  };
  Object.assign(Intl, { [name]: new Proxy(Intl[name] as never, report) });
}
