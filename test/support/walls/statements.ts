const tag = /\b(?:sql|db|tx)(?:<[^`]*>)?$/;

/** The statements and parts of statements in a source file, each by itself: `$` stands for what is put into it. */
export function statementsIn(text: string): string[] {
  const statements: string[] = [];
  let at = 0;

  function readCode() {
    for (let depth = 0; at < text.length; ) {
      const { token } = next(/[`{}]|\/\/.*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'/g);
      if (token === '`') readTemplate(tag.test(text.slice(Math.max(at - 400, 0), at - 1)));
      if (token === '{') depth += 1;
      if (token === '}' && depth-- === 0) return;
    }
  }

  function readTemplate(isStatement: boolean) {
    let statement = '';
    while (at < text.length) {
      const { token, before } = next(/`|\$\{|\\[\s\S]/g);
      statement += before;
      if (token === '`') break;
      if (token === '${') readCode();
      statement += token === '${' ? '$' : token;
    }
    if (isStatement) statements.push(statement);
  }

  function next(pattern: RegExp) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    const before = text.slice(at, found?.index);
    at = found ? pattern.lastIndex : text.length;
    return { token: found?.[0] ?? '', before };
  }

  readCode();
  return statements;
}
