import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { themeOf } from '../color.ts';
import { securityHeaders } from '../headers.ts';
import { monogram } from '../layout.tsx';
import { assetUrl } from './assets.ts';
import { Avatar, Notice } from './badges.tsx';
import { takeFlash } from './flash.ts';
import { emptyForm, type FormState, statusOf } from './forms.tsx';
import { Icon, type IconName } from './icon.tsx';

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
  otherOrganizations: readonly { name: string; slug: string; color: string }[];
};

/** Reads what the session middleware stored. Empty before sign-in. */
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
  /** One line below the heading. */
  about?: Child;
  /** The name of a person, for their initials beside the heading. */
  avatar?: string;
  /** The current item of the navigation. */
  section: Section;
  body: Child;
  /** Buttons and links next to the heading. */
  actions?: Child;
  /** Breadcrumbs. */
  trail?: readonly TrailStep[];
  /** Links between pages of the same record, below the heading. */
  tabs?: Child;
  /** Saved views or segments, listed below the section. */
  views?: readonly View[];
  /** The form of the page. The status is 422 if it has errors. */
  form?: FormState | undefined;
  status?: ContentfulStatusCode;
};

type View = TrailStep & { count?: number; current: boolean };

/** A page of the app, with the notice of the previous action. */
export function renderScreen(c: Context, screen: Screen): Response {
  const { title, heading = title, about, avatar, section, body, actions, tabs } = screen;
  const { trail = [], views, form = emptyForm(), status = statusOf(form) } = screen;
  const reader = readerOf(c);
  const notice = takeFlash(c);
  const document = (
    <Document title={[title, reader.organization?.name]}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Sidebar reader={reader} section={section} {...(views && { views })} />
      <main id="main" tabindex={-1}>
        {reader.organization ? <p class="on-paper name">{reader.organization.name}</p> : null}
        <div class="head">
          <div class={avatar ? 'person' : undefined}>
            {avatar ? <Avatar name={avatar} size="lg" /> : null}
            <div>
              {trail.length === 0 ? null : <Trail steps={trail} />}
              <h1>{typeof heading === 'string' ? <bdi>{heading}</bdi> : heading}</h1>
              {about ? <p>{about}</p> : null}
            </div>
          </div>
          {actions ? <div class="acts">{actions}</div> : null}
        </div>
        {tabs}
        {notice ? <Notice {...notice} /> : null}
        {body}
      </main>
    </Document>
  );
  return c.html(`<!doctype html>${document}`, status, screenHeaders());
}

const Trail = ({ steps }: { steps: readonly TrailStep[] }) => (
  <nav aria-label="Breadcrumbs">
    <ol class="trail">
      {steps.map(({ text, href }) => (
        <li>
          <a href={href}>
            <bdi>{text}</bdi>
          </a>
        </li>
      ))}
    </ol>
  </nav>
);

type StandaloneScreen = {
  title: string;
  body: Child;
  /** Below the card. */
  foot?: Child;
} & Pick<Screen, 'form' | 'status'>;

/** A page without navigation, mostly for readers who are not signed in yet. */
export function renderStandalone(
  c: Context,
  { title, body, foot, form = emptyForm(), status = statusOf(form) }: StandaloneScreen,
) {
  const notice = takeFlash(c);
  const document = (
    <Document title={[title]} alone>
      <main id="main" class="gate">
        <p class="brand">
          <OwnMark /> askback
        </p>
        {notice ? <Notice {...notice} /> : null}
        <div class="card stack">
          <h1>{title}</h1>
          {body}
        </div>
        {foot ? <p class="sub">{foot}</p> : null}
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

/** Navigation items: label, last part of the path and icon. Other pages are in the account menu. */
const navigation = {
  home: ['Home', '', 'house'],
  surveys: ['Surveys', '/surveys', 'clipboard-list'],
  responses: ['Responses', '/responses', 'inbox'],
  people: ['People', '/people', 'users'],
  themes: ['Themes', '/themes', 'layers'],
  summaries: ['Summaries', '/summaries', 'file-text'],
  webhooks: ['Webhooks', '/webhooks', 'webhook'],
  settings: ['Settings', '/settings/overview', 'settings'],
} as const satisfies Record<string, readonly [string, string, IconName]>;

type Section = keyof typeof navigation | 'account' | 'operator' | null;

type SidebarProps = { reader: Reader; section: Section; views?: Screen['views'] };

/** The navigation: a bar with a menu, on wide screens a rail. */
export function Sidebar({ reader, section, views = [] }: SidebarProps) {
  const { member, organization, otherOrganizations } = reader;
  return (
    <header class="rail">
      {organization ? (
        <OrganizationSwitcher organization={organization} otherOrganizations={otherOrganizations} />
      ) : (
        <p class="brand">
          <OwnMark /> askback
        </p>
      )}
      <details class="fold">
        <summary class="button">Menu</summary>
        <div class="pages">
          <nav aria-label="Main">
            <ul>
              {organization ? (
                <NavItems organization={organization} section={section} views={views} />
              ) : (
                otherOrganizations.map((other) => <OrganizationItem {...other} />)
              )}
            </ul>
          </nav>
          {member ? <Account member={member} section={section} /> : null}
        </div>
      </details>
    </header>
  );
}

type SwitcherProps = Pick<Reader, 'otherOrganizations'> & { organization: NavOrganization };

function OrganizationSwitcher({ organization, otherOrganizations }: SwitcherProps) {
  if (otherOrganizations.length === 0) {
    return (
      <p class="org">
        <Mark {...organization} /> <bdi>{organization.name}</bdi>
      </p>
    );
  }
  return (
    <details class="menu" name="rail">
      <summary class="org">
        <Mark {...organization} /> <bdi>{organization.name}</bdi>
        <span class="hidden">, change organization</span>
        <Icon name="chevron-down" />
      </summary>
      <ul class="list">
        <OrganizationItem {...organization} current />
        {otherOrganizations.map((other) => (
          <OrganizationItem {...other} />
        ))}
      </ul>
    </details>
  );
}

type OrganizationItemProps = { name: string; slug: string; color: string; current?: boolean };

const OrganizationItem = ({ name, slug, color, current = false }: OrganizationItemProps) => (
  <li>
    <a href={`/o/${slug}`} aria-current={current ? 'true' : undefined}>
      <Mark name={name} color={color} />
      <bdi>{name}</bdi>
    </a>
  </li>
);

type NavItemsProps = { organization: NavOrganization; section: Section; views: readonly View[] };

function NavItems({ organization, section, views }: NavItemsProps) {
  const { slug, openDetractors = 0, failingWebhooks = 0 } = organization;
  const counts: Readonly<Record<string, [number, string]>> = {
    responses: [
      openDetractors,
      `open detractor${openDetractors === 1 ? '' : 's'} of the last 30 days`,
    ],
    webhooks: [failingWebhooks, `failing webhook${failingWebhooks === 1 ? '' : 's'}`],
  };
  const current = views.some((view) => view.current) ? null : section;
  return Object.entries(navigation).map(([place, [text, path, icon]]) => {
    const [count, things] = counts[place] ?? [0];
    return (
      <li>
        <a href={`/o/${slug}${path}`} aria-current={place === current ? 'page' : undefined}>
          <Icon name={icon} />
          {text}
          {place === section && views.length > 0 ? null : (
            <Count value={count} things={things} alarm={place === 'webhooks'} />
          )}
        </a>
        {place === section && views.length > 0 ? (
          <ul class="views">
            {views.map((view) => (
              <li>
                <a href={view.href} aria-current={view.current ? 'page' : undefined}>
                  <bdi>{view.text}</bdi>
                  <Count value={view.count} />
                </a>
              </li>
            ))}
          </ul>
        ) : null}
      </li>
    );
  });
}

type CountProps = { value?: number | undefined; things?: string | undefined; alarm?: boolean };

const Count = ({ value = 0, things, alarm = false }: CountProps) =>
  value === 0 ? null : (
    <span class={alarm ? 'count alarm' : 'count'} title={things}>
      <span class="hidden">, </span>
      {value > maxCount ? `${maxCount}+` : value}
      {things ? <span class="hidden"> {things}</span> : null}
    </span>
  );

const maxCount = 99;

function Account({ member, section }: { member: NavMember; section: Section }) {
  const current = (place: Section) => (section === place ? 'page' : undefined);
  return (
    <details class="menu" name="rail">
      <summary>
        <Avatar name={member.name} size="sm" />
        <bdi>{member.name}</bdi>
        <span class="hidden">, your account</span>
        <Icon name="chevron-down" />
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

const OwnMark = () => <img class="mark" src={assetUrl('icon.svg')} alt="" />;

/** An SVG, because the content security policy blocks inline styles and organizations choose any colour. */
function Mark({ name, color }: { name: string; color: string }) {
  const { brand, onBrand } = themeOf(color);
  return (
    <svg class="mark" viewBox="0 0 28 28" aria-hidden="true">
      <rect width="28" height="28" rx="8" fill={brand} />
      <text x="14" y="18.5" text-anchor="middle" fill={onBrand}>
        {monogram(name)}
      </text>
    </svg>
  );
}
