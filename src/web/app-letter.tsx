import { oneLine } from '../lib/validation/parse.ts';

/** An email to a member: what happened and what to do. */
export type AppLetter = {
  subject: string;
  /** Paragraphs, as text. */
  sentences: readonly string[];
  button?: { text: string; url: string };
  /** The reason for the email. */
  foot: string;
  /** The link that changes which emails come. */
  stop?: { text: string; url: string };
};

const font =
  "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

/** Renders subject, text and HTML. The HTML loads nothing. */
export const writeAppLetter = (letter: AppLetter) => ({
  subject: oneLine(letter.subject),
  text: textOf(letter),
  html: htmlOf(letter),
});

function textOf({ sentences, button, foot, stop }: AppLetter): string {
  const act = button ? [`${button.text}:\n${button.url}`] : [];
  const end = stop ? `\n${stop.text}: ${stop.url}` : '';
  return `${[...sentences, ...act, `-- \n${foot}${end}`].join('\n\n')}\n`;
}

function htmlOf({ subject, sentences, button, foot, stop }: AppLetter): string {
  const document = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{subject}</title>
      </head>
      <body style={`margin:0;padding:24px 16px;${font};font-size:16px;line-height:24px`}>
        <div style="max-width:560px;margin:0 auto">
          <p style="margin:0 0 20px;font-weight:bold">askback</p>
          {sentences.map((sentence) => (
            <p style="margin:0 0 16px">{sentence}</p>
          ))}
          {button ? <Button {...button} /> : null}
          <p style="margin:28px 0 0;font-size:14px;line-height:21px;opacity:.75">
            {foot} {stop ? <a href={stop.url}>{stop.text}</a> : null}
          </p>
        </div>
      </body>
    </html>
  );
  return `<!DOCTYPE html>\n${String(document)}`;
}

/** A button with its URL as text below. */
function Button({ text, url }: { text: string; url: string }) {
  return (
    <>
      <p style="margin:24px 0">
        <a
          href={url}
          style="display:inline-block;padding:12px 22px;border-radius:8px;background:#1f4fd8;color:#ffffff;text-decoration:none;font-weight:bold"
        >
          {text}
        </a>
      </p>
      <p style="margin:0 0 16px;font-size:14px;line-height:21px;word-break:break-all">{url}</p>
    </>
  );
}
