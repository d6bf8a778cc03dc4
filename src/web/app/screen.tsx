import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { Document } from './document.tsx';
import { takeFlash } from './flash.ts';
import { screenHeaders } from './headers.ts';
import { Notice } from './marks.tsx';
import { Rail, type Section } from './rail.tsx';
import { readerOf } from './reader.ts';

export type TrailStep = { text: string; href: string };

export type Screen = {
  /** The heading of the page and the first words of its title. */
  title: string;
  /** The heading, where it says more or less than the title: the name of a survey in a script of its own. */
  heading?: Child;
  /** What is lit in the navigation. */
  section: Section;
  body: Child;
  /** Buttons and links that stand next to the heading. */
  actions?: Child;
  /** The way back, for pages below a list. */
  trail?: readonly TrailStep[];
  status?: ContentfulStatusCode;
};

/** A whole page of the app, with the notice of the act before it. */
export function renderScreen(c: Context, screen: Screen): Response {
  const { title, heading = title, section, body, actions, trail = [], status = 200 } = screen;
  const reader = readerOf(c);
  const notice = takeFlash(c);
  return show(
    c,
    <Document title={[title, reader.organization?.name]}>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Rail reader={reader} section={section} />
      <main id="main" tabindex={-1}>
        <Trail steps={trail} />
        {reader.organization ? <p class="on-paper brand">{reader.organization.name}</p> : null}
        <div class="head">
          <h1>{heading}</h1>
          {actions ? <div class="actions">{actions}</div> : null}
        </div>
        {notice ? <Notice {...notice} /> : null}
        {body}
      </main>
    </Document>,
    { status },
  );
}

export type LoneScreen = {
  title: string;
  body: Child;
  status?: ContentfulStatusCode;
  /** Another origin that a form of this page leads to in the end, such as that of an OpenID provider. */
  leadsTo?: string | undefined;
};

/** A page for readers who are not signed in yet, or whose page has no place in the navigation. */
export function renderAlone(c: Context, { title, body, status = 200, leadsTo }: LoneScreen) {
  const notice = takeFlash(c);
  return show(
    c,
    <Document title={[title]} alone>
      <main id="main">
        <p class="brand">askback</p>
        <h1>{title}</h1>
        {notice ? <Notice {...notice} /> : null}
        {body}
      </main>
    </Document>,
    { status, leadsTo },
  );
}

type Sent = { status: ContentfulStatusCode; leadsTo?: string | undefined };

function show(c: Context, document: Child, { status, leadsTo }: Sent): Response {
  return c.html(`<!doctype html>${document}`, status, screenHeaders({ leadsTo }));
}

function Trail({ steps }: { steps: readonly TrailStep[] }) {
  if (steps.length === 0) return null;
  return (
    <nav aria-label="Where you are">
      <ol class="trail">
        {steps.map(({ text, href }) => (
          <li>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
