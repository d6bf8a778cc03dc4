import { themeOf } from '../color.ts';
import { monogram } from '../layout.tsx';
import type { ScreenReader, ShownMember, ShownOrganization } from './reader.ts';

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

export type Section = keyof typeof places | 'account' | 'operator' | null;

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
