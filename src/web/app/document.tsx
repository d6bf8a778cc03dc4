import type { Child } from 'hono/jsx';
import { assetUrl } from './assets.ts';

type DocumentProps = {
  title: readonly (string | undefined)[];
  /** Without navigation: one column in the middle. */
  alone?: boolean;
  children?: Child;
};

/** htmx writes no style and runs no text: our policy would refuse both. What fails is shown as it came. */
const htmxConfig = JSON.stringify({
  includeIndicatorCSS: false,
  history: 'reload',
  extensions: 'none',
});

export function Document({ title, alone = false, children }: DocumentProps) {
  return (
    <html lang="en">
      <Head title={[...title.filter((part) => part), 'askback'].join(' · ')} />
      <body class={alone ? 'alone' : undefined}>
        {children}
        <p class="hidden" role="status" id="says" />
      </body>
    </html>
  );
}

function Head({ title }: { title: string }) {
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="format-detection" content="telephone=no" />
      <meta name="htmx-config" content={htmxConfig} />
      <title>{title}</title>
      <link rel="icon" href={assetUrl('icon.svg')} type="image/svg+xml" />
      <link rel="stylesheet" href={assetUrl('app.css')} />
      <script src={assetUrl('htmx.js')} defer />
      <script src={assetUrl('app.js')} defer />
    </head>
  );
}
