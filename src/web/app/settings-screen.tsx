import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { readerOf, renderScreen, type ShownOrganization, type TrailStep } from './screen.tsx';

type Setting = { text: string; for: 'everybody' | 'owners' };

/** The pages of the settings in their order, by the last part of their path. */
const settings = {
  general: { text: 'General', for: 'everybody' },
  'api-keys': { text: 'API Keys', for: 'owners' },
  members: { text: 'Members', for: 'owners' },
  mail: { text: 'Mail', for: 'owners' },
  tags: { text: 'Tags', for: 'everybody' },
  texts: { text: 'Texts', for: 'owners' },
  notifications: { text: 'Notifications', for: 'everybody' },
  usage: { text: 'Usage', for: 'everybody' },
  audit: { text: 'Audit', for: 'owners' },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof settings;

type SettingsScreen = {
  setting: SettingName;
  /** What the page is about, where that is not the setting itself. */
  title?: string;
  body: Child;
  trail?: readonly TrailStep[];
  status?: ContentfulStatusCode;
};

/** A page of the settings: the navigation between them, and the page next to it. */
export function renderSettings(c: Context, screen: SettingsScreen): Response | Promise<Response> {
  const { setting, body, title = settings[setting].text, ...rest } = screen;
  const { organization } = readerOf(c);
  return renderScreen(c, {
    ...rest,
    title,
    heading: 'Settings',
    section: 'settings',
    body: (
      <div class="settings">
        {organization ? <Settings {...placeOf(organization)} current={setting} /> : null}
        <div>{body}</div>
      </div>
    ),
  });
}

export const settingPath = ({ slug }: { slug: string }, setting: SettingName) =>
  `/o/${slug}/settings/${setting}`;

type SettingsProps = Pick<ShownOrganization, 'slug' | 'role'> & { current: SettingName };

const placeOf = ({ slug, role }: ShownOrganization) => ({ slug, role });
/** A member whose role opens a page no more than its refusal is not led there. */
function Settings({ slug, role, current }: SettingsProps) {
  const shown = Object.entries(settings).filter(
    ([, setting]) => setting.for === 'everybody' || role === 'owner',
  );
  return (
    <details class="reveal wide-open sub">
      <summary>All settings</summary>
      <nav aria-label="Settings">
        <ul>
          {shown.map(([name, { text }]) => (
            <li>
              <a
                href={settingPath({ slug }, name as SettingName)}
                aria-current={name === current ? 'page' : undefined}
              >
                {text}
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </details>
  );
}

type PartProps = { id: string; title: string; act?: Child; children?: Child };

/** A part of a page of the settings, with what can be done about it at the end of its heading. */
export function Part({ id, title, act, children }: PartProps) {
  return (
    <section aria-labelledby={id}>
      <div class="title">
        <h2 id={id}>{title}</h2>
        {act}
      </div>
      {children}
    </section>
  );
}
