import { styleText } from 'node:util';

const colorOf: Record<string, Parameters<typeof styleText>[0]> = {
  fatal: 'red',
  error: 'red',
  warn: 'yellow',
  info: 'green',
};

/** A JSON line as a person reads it: the time of day, the level, what happened, and the rest of it. */
export function terminalLine(line: string, { colors }: { colors: boolean }): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    colors ? styleText(style, text, { validateStream: false }) : text;
  const words = Object.entries(fields).map(
    ([name, value]) => `${paint('dim', `${name}=`)}${value}`,
  );
  const head = [
    paint('dim', new Date(String(time)).toTimeString().slice(0, 8)),
    paint(colorOf[String(level)] ?? 'dim', String(level).padEnd(5)),
    String(msg),
  ];
  return `${[...head, ...words].join(' ')}\n${err ? `${errorText(err as ErrorLine)}\n` : ''}`;
}

type ErrorLine = {
  type: string;
  code?: string;
  message: string;
  stack?: string;
  cause?: ErrorLine;
};

function errorText({ type, code, message, stack, cause }: ErrorLine): string {
  const what = `  ${type}${code ? ` ${code}` : ''}: ${message}`;
  const because = cause ? `\n  because:\n${errorText(cause)}` : '';
  return `${what}${stack ? `\n${stack}` : ''}${because}`;
}
