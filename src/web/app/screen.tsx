import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { themeOf } from '../color.ts';
import { monogram } from '../layout.tsx';
import { assetUrl } from './assets.ts';
import { Notice } from './badges.tsx';
import { takeFlash } from './flash.ts';

/** What the frame of a screen shows of the member who reads it. */
type ShownMember = { name: string; email: string; isOperator: boolean };

export type ShownOrganization = {
  name: string;
  slug: string;
  color: string;
  role: 'viewer' | 'editor' | 'owner';
  /** What the navigation counts. */
  openDetractors?: number;
  failingWebhooks?: number;
};

type ScreenReader = {
  member: ShownMember | undefined;
  organization: ShownOrganization | undefined;
  otherOrganizations: readonly { name: string; slug: string }[];
};

/** As the middleware of the session left them; before sign-in there is nothing. */
export function readerOf(c: Context): ScreenReader {
  return {
    member: c.get('member'),
    organization: c.get('organization'),
    otherOrganizations: c.get('otherOrganizations') ?? [],
  };
}

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

type LoneScreen = {
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

function Document({ title, alone = false, children }: DocumentProps) {
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

/**
 * The headers of a screen: scripts and styles from our own files alone, no frame around it. `same-origin`
 * keeps paths from other sites, and lets browsers say where a form of ours comes from.
 */
function screenHeaders({ leadsTo }: { leadsTo?: string | undefined } = {}) {
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      "style-src 'self'",
      "script-src 'self'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "frame-src 'self'",
      `form-action 'self'${leadsTo ? ` ${leadsTo}` : ''}`,
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; '),
    'Referrer-Policy': 'same-origin',
    'X-Robots-Tag': 'noindex, nofollow',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    'Cache-Control': 'no-store',
  };
}

/** The places of the navigation, by the last part of their path; the others are in the menu of the account. */
const places = {
  home: ['Home', ''],
  surveys: ['Surveys', '/surveys'],
  responses: ['Responses', '/responses'],
  people: ['People', '/people'],
  summaries: ['Summaries', '/summaries'],
  webhooks: ['Webhooks', '/webhooks'],
  settings: ['Settings', '/settings/general'],
} as const;

type Section = keyof typeof places | 'account' | 'operator' | null;

type RailProps = { reader: ScreenReader; section: Section };

/** The navigation: a rail on wide screens, else a bar with a menu. */
export function Rail({ reader, section }: RailProps) {
  const { member, organization } = reader;
  return (
    <header class="rail">
      <div class="mast">
        {organization ? <Switch reader={reader} /> : <p class="brand">askback</p>}
        <details class="fold">
          <summary class="button">Menu</summary>
          <div class="pages">
            <nav aria-label="Main">
              {organization ? (
                <Places organization={organization} section={section} />
              ) : (
                <Organizations reader={reader} />
              )}
            </nav>
            {member ? <Account member={member} section={section} /> : null}
          </div>
        </details>
      </div>
    </header>
  );
}

function Switch({ reader: { organization, otherOrganizations } }: { reader: ScreenReader }) {
  if (!organization) return null;
  const { name, slug } = organization;
  if (otherOrganizations.length === 0) {
    return (
      <p class="menu">
        <span class="one">
          <Monogram {...organization} /> <bdi>{name}</bdi>
        </span>
      </p>
    );
  }
  return (
    <details class="menu" name="rail">
      <summary>
        <Monogram {...organization} /> <bdi>{name}</bdi>
        <span class="hidden">, change organization</span>
      </summary>
      <ul class="list">
        <li>
          <a href={`/o/${slug}`} aria-current="true">
            <bdi>{name}</bdi>
          </a>
        </li>
        {otherOrganizations.map((other) => (
          <li>
            <a href={`/o/${other.slug}`}>
              <bdi>{other.name}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}

type PlacesProps = { organization: ShownOrganization; section: Section };

function Places({ organization, section }: PlacesProps) {
  const { slug, openDetractors = 0, failingWebhooks = 0 } = organization;
  const counts: Readonly<Record<string, [number, string]>> = {
    responses: [
      openDetractors,
      `open detractor${openDetractors === 1 ? '' : 's'} of the last 30 days`,
    ],
    webhooks: [failingWebhooks, `failing webhook${failingWebhooks === 1 ? '' : 's'}`],
  };
  return (
    <ul>
      {Object.entries(places).map(([place, [text, path]]) => (
        <li>
          <a href={`/o/${slug}${path}`} aria-current={place === section ? 'page' : undefined}>
            {text}
            <Count counted={counts[place]} />
          </a>
        </li>
      ))}
    </ul>
  );
}

const mostShown = 99;

/** How many things of a place need a look, as read aloud too. */
function Count({ counted }: { counted: [number, string] | undefined }) {
  if (!counted || counted[0] === 0) return null;
  const [number, things] = counted;
  return (
    <span class="count" title={things}>
      <span class="hidden">, </span>
      {number > mostShown ? `${mostShown}+` : number}
      <span class="hidden"> {things}</span>
    </span>
  );
}

/** Account and Operator belong to no organization: from there the way leads to each. */
function Organizations({ reader }: { reader: ScreenReader }) {
  return (
    <ul>
      {reader.otherOrganizations.map(({ name, slug }) => (
        <li>
          <a href={`/o/${slug}`}>
            <bdi>{name}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}

function Account({ member, section }: { member: ShownMember; section: Section }) {
  return (
    <details class="menu" name="rail">
      <summary>
        <bdi>{member.name}</bdi>
        <span class="hidden">, your account</span>
      </summary>
      <ul class="list up">
        <li>
          <a href="/account" aria-current={section === 'account' ? 'page' : undefined}>
            Account
          </a>
        </li>
        {member.isOperator ? (
          <li>
            <a href="/operator" aria-current={section === 'operator' ? 'page' : undefined}>
              Operator
            </a>
          </li>
        ) : null}
        <li>
          <a href="/docs">API documentation</a>
        </li>
        <li>
          <form method="post" action="/sign-out">
            <button type="submit">Sign out</button>
          </form>
        </li>
      </ul>
    </details>
  );
}

/** Drawn, because its colour may be any and the policy of the page refuses styles of its own. */
function Monogram({ name, color }: { name: string; color: string }) {
  const { brand, onBrand } = themeOf(color);
  return (
    <svg class="monogram" viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" fill={brand} />
      <text x="12" y="16.5" text-anchor="middle" fill={onBrand}>
        {monogram(name)}
      </text>
    </svg>
  );
}
