import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import type { Letter } from './letter.ts';
import { colorsOf, darkScheme, font, ink, outlookOnly, page, quiet } from './letter-style.ts';
import { Scores } from './score-cells.tsx';

/**
 * The HTML part. Tables, because Outlook lays out nothing else; styles inline, because some programs
 * drop others. The style sheet only adds the dark scheme. No script, and no picture but the organization's logo.
 */
export function letterHtml(letter: Letter): string {
  const { tag, texts } = letter.language;
  const document = (
    <html lang={tag} dir={texts.direction}>
      <Head letter={letter} />
      <body class="page" style={`margin:0;padding:0;background:${page};${font}`}>
        <Preview text={texts.mail.preview} />
        <Table class="page" width="100%" style={`background:${page}`}>
          <tr>
            <td align="center" style="padding:20px 8px">
              {raw(outlookOnly('<table role="presentation" width="600"><tr><td>'))}
              <Card letter={letter} />
              <Foot letter={letter} />
              {raw(outlookOnly('</td></tr></table>'))}
            </td>
          </tr>
        </Table>
      </body>
    </html>
  );
  return `<!DOCTYPE html>\n${String(document)}`;
}

function Head({ letter }: { letter: Letter }) {
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="supported-color-schemes" content="light dark" />
      <meta name="format-detection" content="telephone=no, date=no, address=no, email=no" />
      <title>{letter.organization.name}</title>
      <style>{raw(darkScheme(letter.organization.color))}</style>
    </head>
  );
}

/** What the list of mails shows after the subject, and then nothing, so that no other words follow. */
function Preview({ text }: { text: string }) {
  return (
    <div style="display:none;max-height:0;overflow:hidden;mso-hide:all" aria-hidden="true">
      {text}
      {raw('&#8199;&#847; '.repeat(80))}
    </div>
  );
}

function Card({ letter }: { letter: Letter }) {
  const { language, organization, greeting, intro, links } = letter;
  const { hint, openPage } = language.texts.mail;
  const accent = colorsOf(organization.color).name;
  return (
    <Table class="card" width="100%" style={cardStyle(organization.color)}>
      <Row class="name" style={`padding:22px 24px 0;${type(15, 22, accent)};font-weight:bold`}>
        {organization.logo === null ? null : <Logo src={organization.logo} />}
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
        <Question letter={letter} />
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
        <Trap href={links.trap} />
      </Row>
    </Table>
  );
}

/** The name stands under it: many programs load pictures only when asked to. */
const Logo = ({ src }: { src: string }) => (
  <img
    src={src}
    alt=""
    height="40"
    style="display:block;height:40px;width:auto;max-width:240px;margin:0 0 8px;padding:4px;background:#ffffff;border:0"
  />
);

/** A link that no person can see, press or have read out. */
const Trap = ({ href }: { href: string }) => (
  <div style="display:none;max-height:0;overflow:hidden;mso-hide:all" aria-hidden="true">
    <a href={href} tabindex={-1}>
      &nbsp;
    </a>
  </div>
);

function Question({ letter }: { letter: Letter }) {
  return (
    <h1
      class="text"
      dir="auto"
      lang={letter.questionLanguage}
      style={`margin:0;${type(22, 30, ink)};font-weight:bold;text-align:start`}
    >
      <Lines text={letter.question} />
    </h1>
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

function Foot({ letter: { language, why, foot, links } }: { letter: Letter }) {
  return (
    <Table width="100%" style="max-width:600px">
      <Row class="quiet" align="center" style={`padding:18px 24px 8px;${type(13, 20, quiet)}`}>
        {why}
        <br />
        <a
          class="quiet"
          href={links.unsubscribe}
          style={`color:${quiet};text-decoration:underline;display:inline-block;padding:6px`}
        >
          {language.texts.unsubscribeLink}
        </a>
        {foot.map((paragraph) => (
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

type TableProps = { class?: string; width: string; style: string; children?: Child };

const Table = ({ children, ...table }: TableProps) => (
  <table role="presentation" cellpadding="0" cellspacing="0" border={0} {...table}>
    <tbody>{children}</tbody>
  </table>
);

const type = (size: number, line: number, color: string) =>
  `font-size:${size}px;line-height:${line}px;color:${color}`;

const cardStyle = (color: string) =>
  `max-width:600px;background:#ffffff;border-radius:10px;border-top:4px solid ${colorsOf(color).stripe}`;
