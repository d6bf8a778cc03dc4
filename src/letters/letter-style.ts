import { edgeContrast, mix, readableOn } from '../web/color.ts';

export const page = '#f3f4f6';
export const ink = '#1b1f27';
export const quiet = '#5b6270';
export const font =
  "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;-webkit-text-size-adjust:100%";

/** Read by Outlook for Windows alone, which knows neither maximum widths nor tables side by side. */
export const outlookOnly = (html: string) => `<!--[if mso]>${html}<![endif]-->`;

const dark = { page: '#14161a', card: '#1e2127', ink: '#eceef2', quiet: '#a6adba' };

/** What the organization's color becomes where something has to be distinguished or read. */
export function colorsOf(color: string) {
  const cell = mix('#ffffff', color, 0.09);
  return {
    stripe: color,
    name: readableOn(color, '#ffffff'),
    cell,
    edge: readableOn(color, '#ffffff', edgeContrast),
    score: readableOn(color, cell),
  };
}

function darkColorsOf(color: string) {
  const lit = readableOn(color, dark.card);
  const cell = mix(dark.card, lit, 0.18);
  return {
    stripe: lit,
    name: lit,
    cell,
    edge: readableOn(lit, dark.card, edgeContrast),
    score: readableOn(mix(lit, '#ffffff', 0.5), cell),
  };
}

/** For programs that follow the reader's scheme. Others keep the light one or turn it themselves. */
export function darkScheme(color: string): string {
  const { stripe, name, cell, edge, score } = darkColorsOf(color);
  const rules = [
    `.page{background:${dark.page}!important}`,
    `.card{background:${dark.card}!important;border-top-color:${stripe}!important}`,
    `.text{color:${dark.ink}!important}`,
    `.quiet{color:${dark.quiet}!important}`,
    `.name{color:${name}!important}`,
    `.cell{background:${cell}!important;border-color:${edge}!important}`,
    `.cell a{color:${score}!important}`,
  ];
  return `@media (prefers-color-scheme:dark){${rules.join('')}}`;
}
