import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { themeOf } from '../color.ts';
import { securityHeaders } from '../headers.ts';
import { monogram } from '../layout.tsx';
import { assetUrl } from './assets.ts';
import { Notice } from './badges.tsx';
import { takeFlash } from './flash.ts';

type NavMember = { name: string; email: string; isOperator: boolean };

export type NavOrganization = {
  name: string;
  slug: string;
  color: string;
  role: 'viewer' | 'editor' | 'owner';
  /** Shown as counts in the navigation. */
  openDetractors?: number;
  failingWebhooks?: number;
};

type Reader = {
  member: NavMember | undefined;
  organization: NavOrganization | undefined;
  otherOrganizations: readonly { name: string; slug: string }[];
};

/** Reads what the session middleware stored. Nothing before sign-in. */
export function readerOf(c: Context): Reader {
  return {
    member: c.get('member'),
    organization: c.get('organization'),
    otherOrganizations: c.get('otherOrganizations') ?? [],
  };
}

export type TrailStep = { text: string; href: string };

export type Screen = {
  title: string;
  /** The heading, if it differs from the title. */
  heading?: Child;
  /** The current item of the navigation. */
  section: Section;
  body: Child;
  /** Buttons and links next to the heading. */
  actions?: Child;
  /** Breadcrumbs. */
  trail?: readonly TrailStep[];
  status?: ContentfulStatusCode;
};

/** A page of the app, with the notice of the previous action. */
export function renderScreen(c: Context, screen: Screen): Response {
  const { title, heading = title, section, body, actions, trail = [], status = 200 } = screen;
  const reader = readerOf(c);
  const notice = takeFlash(c);
  const document = (
    <Document title={[title, reader.organization?.name]}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Sidebar reader={reader} section={section} />
      <main id="main" tabindex={-1}>
        {trail.length === 0 ? null : (
          <nav aria-label="Breadcrumbs">
            <ol class="trail">
              {trail.map(({ text, href }) => (
                <li>
                  <a href={href}>{text}</a>
                </li>
              ))}
            </ol>
          </nav>
        )}
        {reader.organization ? <p class="on-paper brand">{reader.organization.name}</p> : null}
        <div class="head">
          <h1>{heading}</h1>
          {actions ? <div class="actions">{actions}</div> : null}
        </div>
        {notice ? <Notice {...notice} /> : null}
        {body}
      </main>
    </Document>
  );
  return c.html(`<!doctype html>${document}`, status, screenHeaders());
}

type StandaloneScreen = {
  title: string;
  body: Child;
  status?: ContentfulStatusCode;
};

/** A page without navigation, mostly for readers who are not signed in yet. */
export function renderStandalone(c: Context, { title, body, status = 200 }: StandaloneScreen) {
  const notice = takeFlash(c);
  const document = (
    <Document title={[title]} alone>
      <main id="main">
        <p class="brand">askback</p>
        <h1>{title}</h1>
        {notice ? <Notice {...notice} /> : null}
        {body}
      </main>
    </Document>
  );
  return c.html(`<!doctype html>${document}`, status, screenHeaders());
}

type DocumentProps = {
  title: readonly (string | undefined)[];
  /** One centered column without navigation. */
  alone?: boolean;
  children?: Child;
};

/** The content security policy blocks inline styles and eval, so htmx must use neither. */
const htmxConfig = JSON.stringify({
  includeIndicatorCSS: false,
  history: 'reload',
  extensions: 'none',
});

function Document({ title, alone = false, children }: DocumentProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="format-detection" content="telephone=no" />
        <meta name="htmx-config" content={htmxConfig} />
        <title>{[...title.filter((part) => part), 'askback'].join(' · ')}</title>
        <link rel="icon" href={assetUrl('icon.svg')} type="image/svg+xml" />
        <link rel="stylesheet" href={assetUrl('app.css')} />
        <script src={assetUrl('htmx.js')} defer />
        <script src={assetUrl('app.js')} defer />
      </head>
      <body class={alone ? 'alone' : undefined}>
        {children}
        <p class="hidden" role="status" id="says" />
      </body>
    </html>
  );
}

/** With `same-origin` browsers send `Origin` with our own forms, and no path to other sites. */
const screenHeaders = () => ({
  ...securityHeaders([
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
  ]),
  'Referrer-Policy': 'same-origin',
});

/** Navigation items: label and last part of the path. Other pages are in the account menu. */
const navigation = {
  home: ['Home', ''],
  surveys: ['Surveys', '/surveys'],
  responses: ['Responses', '/responses'],
  people: ['People', '/people'],
  themes: ['Themes', '/themes'],
  summaries: ['Summaries', '/summaries'],
  webhooks: ['Webhooks', '/webhooks'],
  settings: ['Settings', '/settings/general'],
} as const;

type Section = keyof typeof navigation | 'account' | 'operator' | null;

type SidebarProps = { reader: Reader; section: Section };

/** The navigation: a sidebar on wide screens, a bar with a menu on narrow ones. */
export function Sidebar({ reader, section }: SidebarProps) {
  const { member, organization, otherOrganizations } = reader;
  return (
    <header class="rail">
      <div class="mast">
        {organization ? (
          <OrganizationSwitcher {...{ organization, otherOrganizations }} />
        ) : (
          <p class="brand">askback</p>
        )}
        <details class="fold">
          <summary class="button">Menu</summary>
          <div class="pages">
            <nav aria-label="Main">
              <ul>
                {organization ? (
                  <NavItems organization={organization} section={section} />
                ) : (
                  otherOrganizations.map((other) => <OrganizationItem {...other} />)
                )}
              </ul>
            </nav>
            {member ? <Account member={member} section={section} /> : null}
          </div>
        </details>
      </div>
    </header>
  );
}

type SwitcherProps = Pick<Reader, 'otherOrganizations'> & { organization: NavOrganization };

function OrganizationSwitcher({ organization, otherOrganizations }: SwitcherProps) {
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
        <OrganizationItem {...{ name, slug }} current />
        {otherOrganizations.map((other) => (
          <OrganizationItem {...other} />
        ))}
      </ul>
    </details>
  );
}

type OrganizationItemProps = { name: string; slug: string; current?: boolean };

const OrganizationItem = ({ name, slug, current = false }: OrganizationItemProps) => (
  <li>
    <a href={`/o/${slug}`} aria-current={current ? 'true' : undefined}>
      <bdi>{name}</bdi>
    </a>
  </li>
);

type NavItemsProps = { organization: NavOrganization; section: Section };

function NavItems({ organization, section }: NavItemsProps) {
  const { slug, openDetractors = 0, failingWebhooks = 0 } = organization;
  const counts: Readonly<Record<string, [number, string]>> = {
    responses: [
      openDetractors,
      `open detractor${openDetractors === 1 ? '' : 's'} of the last 30 days`,
    ],
    webhooks: [failingWebhooks, `failing webhook${failingWebhooks === 1 ? '' : 's'}`],
  };
  return Object.entries(navigation).map(([place, [text, path]]) => {
    const [count, things] = counts[place] ?? [0];
    return (
      <li>
        <a href={`/o/${slug}${path}`} aria-current={place === section ? 'page' : undefined}>
          {text}
          {count > 0 ? (
            <span class="count" title={things}>
              <span class="hidden">, </span>
              {count > maxCount ? `${maxCount}+` : count}
              <span class="hidden"> {things}</span>
            </span>
          ) : null}
        </a>
      </li>
    );
  });
}

const maxCount = 99;

type AccountProps = { member: NavMember; section: Section };

function Account({ member, section }: AccountProps) {
  const current = (place: Section) => (section === place ? 'page' : undefined);
  return (
    <details class="menu" name="rail">
      <summary>
        <bdi>{member.name}</bdi>
        <span class="hidden">, your account</span>
      </summary>
      <ul class="list up">
        <li>
          <a href="/account" aria-current={current('account')}>
            Account
          </a>
        </li>
        {member.isOperator ? (
          <li>
            <a href="/operator" aria-current={current('operator')}>
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

/** An SVG, because the content security policy blocks inline styles and the colour can be any. */
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
