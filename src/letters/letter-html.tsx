import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import { typeFacts } from '../survey-types.ts';
import { edgeContrast, mix, readableOn } from '../web/color.ts';
import { buttonText, scaleLegend } from '../web/language.ts';
import type { Letter } from './letter.ts';

/**
 * Uses tables because of Outlook, and inline styles because some mail programs drop style sheets. The style sheet only
 * adds the dark scheme. No script, and no picture except the organization's logo.
 */
export function letterHtml(letter: Letter): string {
  const { tag, direction, texts } = letter.language;
  const document = (
    <html lang={tag} dir={direction}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <meta name="format-detection" content="telephone=no, date=no, address=no, email=no" />
        <title>{letter.organization.name}</title>
        <style>{raw(darkScheme(letter.organization.color))}</style>
      </head>
      <body class="page" style={`margin:0;padding:0;background:${page};${font}`}>
        <Hidden>
          {/* The preview after the subject in inboxes, padded so that nothing else follows it. */}
          {texts.mail.preview}
          {raw('&#8199;&#847; '.repeat(80))}
        </Hidden>
        <Table class="page" width="100%" style={`background:${page}`}>
          <tr>
            <td align="center" style="padding:20px 8px">
              {raw(outlookOnly('<table role="presentation" width="600"><tr><td>'))}
              <Card letter={letter} />
              <Footer letter={letter} />
              {raw(outlookOnly('</td></tr></table>'))}
            </td>
          </tr>
        </Table>
      </body>
    </html>
  );
  return `<!DOCTYPE html>\n${String(document)}`;
}

const Hidden = ({ children }: { children?: Child }) => (
  <div style="display:none;max-height:0;overflow:hidden;mso-hide:all" aria-hidden="true">
    {children}
  </div>
);

function Card({ letter }: { letter: Letter }) {
  const { language, organization, greeting, intro, links } = letter;
  const { hint, openPage } = language.texts.mail;
  const accent = colorsOf(organization.color).name;
  return (
    <Table class="card" width="100%" style={cardStyle(organization.color)}>
      <Row class="name" style={`padding:22px 24px 0;${type(15, 22, accent)};font-weight:bold`}>
        {/* The name is below the logo, because many mail programs block pictures by default. */}
        {organization.logo === null ? null : (
          <img
            src={organization.logo}
            alt=""
            height="40"
            style="display:block;height:40px;width:auto;max-width:240px;margin:0 0 8px;padding:4px;background:#ffffff;border:0"
          />
        )}
        {organization.name}
      </Row>
      <Row class="text" style={`padding:14px 24px 0;${type(16, 24, ink)}`}>
        {greeting}
      </Row>
      {intro !== null && (
        <Row class="text" style={`padding:8px 24px 6px;${type(16, 24, ink)}`}>
          <div dir="auto" lang={letter.questionLanguage} style="text-align:start">
            <Lines text={intro} />
          </div>
        </Row>
      )}
      <Row style="padding:6px 24px 0">
        <h1
          class="text"
          dir="auto"
          lang={letter.questionLanguage}
          style={`margin:0;${type(22, 30, ink)};font-weight:bold;text-align:start`}
        >
          <Lines text={letter.question} />
        </h1>
      </Row>
      <Row align="center" style="padding:18px 6px 0;font-size:0;line-height:0">
        <Scores letter={letter} />
      </Row>
      <Row class="quiet" style={`padding:14px 24px 26px;${type(14, 21, quiet)}`}>
        {hint}
        <br />
        <a class="name" href={links.answer} style={`color:${accent};text-decoration:underline`}>
          {openPage}
        </a>
        <Hidden>
          <a href={links.trap} tabindex={-1}>
            &nbsp;
          </a>
        </Hidden>
      </Row>
    </Table>
  );
}

const Lines = ({ text }: { text: string }) => (
  <>
    {text.split('\n').map((line, at) => (
      <>
        {at > 0 && <br />}
        {line}
      </>
    ))}
  </>
);

function Footer({ letter: { language, reason, footer, links } }: { letter: Letter }) {
  return (
    <Table width="100%" style="max-width:600px">
      <Row
        class="quiet"
        align="center"
        style={`padding:18px 24px 8px;word-break:break-word;${type(13, 20, quiet)}`}
      >
        {reason}
        <br />
        <a
          class="quiet"
          href={links.unsubscribe}
          style={`color:${quiet};text-decoration:underline;display:inline-block;padding:6px`}
        >
          {language.texts.unsubscribe.action}
        </a>
        {footer.map((paragraph) => (
          <p dir="auto" style="margin:8px 0 0">
            <Lines text={paragraph} />
          </p>
        ))}
      </Row>
    </Table>
  );
}

type CellProps = { class?: string; align?: 'center'; style: string; children?: Child };

const Row = ({ children, ...cell }: CellProps) => (
  <tr>
    <td {...cell}>{children}</td>
  </tr>
);

type TableProps = { class?: string; width?: string; gap?: number; style: string; children?: Child };

const Table = ({ gap = 0, children, ...table }: TableProps) => (
  <table role="presentation" cellpadding="0" cellspacing={String(gap)} border={0} {...table}>
    <tbody>{children}</tbody>
  </table>
);

const type = (size: number, line: number, color: string) =>
  `font-size:${size}px;line-height:${line}px;color:${color}`;

const cardStyle = (color: string) =>
  `max-width:600px;background:#ffffff;border-radius:10px;border-top:4px solid ${colorsOf(color).stripe}`;

/** Touch targets need 44 px including the border. Six cells fit the narrowest phone. */
const cellPx = 42;
const gapPx = 4;
/** Two thumbs fit the narrowest phone. */
const thumbPx = 136;

const rowStyle = `display:inline-table;vertical-align:top;border-spacing:${gapPx}px;margin:0 -${gapPx / 2}px`;

/** Cells wrap as two rows without a style sheet. */
function Scores({ letter }: { letter: Letter }) {
  const { scores, language } = letter;
  const legend = scaleLegend(letter.type, language.texts);
  const { mailRow } = typeFacts(letter.type);
  const rows = [scores.slice(0, mailRow), scores.slice(mailRow)];
  return (
    <>
      {raw(outlookOnly('<table role="presentation"><tr><td>'))}
      {rows
        .filter((row) => row.length > 0)
        .map((row, at) => (
          <>
            {at > 0 && raw(outlookOnly('</td><td>'))}
            <Table gap={gapPx} style={rowStyle}>
              <tr>
                {row.map((score) => (
                  <Cell letter={letter} score={score} />
                ))}
              </tr>
            </Table>
          </>
        ))}
      {raw(outlookOnly('</td></tr></table>'))}
      {legend && (
        <div class="quiet" style={`padding:8px 12px 0;${type(14, 20, quiet)}`}>
          {legend}
        </div>
      )}
    </>
  );
}

function Cell({ letter, score }: { letter: Letter; score: number }) {
  const { type, links, organization, language } = letter;
  const { cell, edge, score: ink } = colorsOf(organization.color);
  const { control } = typeFacts(type);
  const width = control === 'thumb' ? thumbPx : control === 'star' ? 52 : cellPx;
  const link = [
    `display:block;width:${width}px;height:${cellPx}px;line-height:${cellPx}px`,
    `font-size:${control === 'thumb' ? 14 : 17}px;font-weight:bold;color:${ink}`,
    'text-decoration:none;text-align:center;white-space:nowrap;border-radius:7px',
  ].join(';');
  return (
    <td
      class="cell"
      align="center"
      width={String(width)}
      height={String(cellPx)}
      bgcolor={cell}
      style={`width:${width}px;height:${cellPx}px;background:${cell};border:1px solid ${edge};border-radius:8px`}
    >
      <a href={links.score(score)} style={link}>
        {buttonText(type, score, language.texts)}
      </a>
    </td>
  );
}

const page = '#f3f4f6';
const ink = '#1b1f27';
const quiet = '#5b6270';
const font =
  "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;-webkit-text-size-adjust:100%";

/** Only Outlook for Windows reads these comments. It supports neither max-width nor inline tables. */
const outlookOnly = (html: string) => `<!--[if mso]>${html}<![endif]-->`;

const dark = { page: '#14161a', card: '#1e2127', ink: '#eceef2', quiet: '#a6adba' };

const colorsOf = (color: string) => colorsOn('#ffffff', { accent: color, tint: 0.09 });

function darkColorsOf(color: string) {
  const accent = readableOn(color, dark.card);
  return colorsOn(dark.card, { accent, tint: 0.18, text: mix(accent, '#ffffff', 0.5) });
}

type Shades = { accent: string; tint: number; text?: string };

/** Variants of the organization's color with enough contrast. */
function colorsOn(ground: string, { accent, tint, text = accent }: Shades) {
  const cell = mix(ground, accent, tint);
  return {
    stripe: accent,
    name: readableOn(accent, ground),
    cell,
    edge: readableOn(accent, ground, edgeContrast),
    score: readableOn(text, cell),
  };
}

/** Mail programs that ignore this keep the light scheme or invert it. */
function darkScheme(color: string): string {
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
