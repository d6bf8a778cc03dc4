import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import { readerOf, renderScreen, type Screen } from './screen.tsx';

/** The settings pages by group, each with the last part of its path and its title. */
const groups = {
  Organization: { general: 'General', texts: 'Texts', 'canned-texts': 'Canned texts' },
  Sending: { mail: 'Mail', usage: 'Usage' },
  Access: { members: 'Members', 'api-keys': 'API Keys', audit: 'Audit' },
  Data: { import: 'Import', tags: 'Tags', notifications: 'Notifications' },
} as const;

const settings = { ...groups.Organization, ...groups.Sending, ...groups.Access, ...groups.Data };

export type SettingName = keyof typeof settings;

const ownerSettings: readonly string[] = ['api-keys', 'members', 'mail', 'texts', 'audit'];

export const maySee = (role: string | undefined, setting: SettingName): boolean =>
  role === 'owner' ||
  (!ownerSettings.includes(setting) && !(role === 'viewer' && setting === 'import'));

type SettingsScreen = Pick<Screen, 'body' | 'form' | 'status'> & {
  /** Null for the overview. */
  setting: SettingName | null;
  /** The heading of a page below the setting, such as a form or a confirmation. */
  title?: string;
};

/** A settings page, next to the navigation between the settings that the member's role may see. */
export function renderSettings(c: Context, screen: SettingsScreen): Response {
  const { setting, title, body, ...answer } = screen;
  const { organization } = readerOf(c);
  const overview = `/o/${organization?.slug}/settings/overview`;
  const isBelow = title !== undefined && setting !== null && organization !== undefined;
  return renderScreen(c, {
    title: title ?? (setting ? settings[setting] : 'Settings'),
    heading: title ?? 'Settings',
    section: 'settings',
    ...answer,
    ...(isBelow && {
      trail: [
        { text: 'Settings', href: overview },
        { text: settings[setting], href: settingPath(organization, setting) },
      ],
    }),
    body: (
      <div class="settings">
        {organization ? (
          <details class="reveal wide-open sub-nav">
            <summary>All settings</summary>
            <nav aria-label="Settings">
              <ul>
                <SettingLink href={overview} isCurrent={setting === null}>
                  Overview
                </SettingLink>
              </ul>
              {Object.entries(groups).map(([group, titles]) => {
                const all = Object.keys(titles) as SettingName[];
                const names = all.filter((name) => maySee(organization.role, name));
                return names.length === 0 ? null : (
                  <>
                    <h2 class="label">{group}</h2>
                    <ul>
                      {names.map((name) => (
                        <SettingLink
                          href={settingPath(organization, name)}
                          isCurrent={name === setting}
                        >
                          {settings[name]}
                        </SettingLink>
                      ))}
                    </ul>
                  </>
                );
              })}
            </nav>
          </details>
        ) : null}
        <div class="stack">{body}</div>
      </div>
    ),
  });
}

type SettingLinkProps = { href: string; isCurrent: boolean; children?: Child };

const SettingLink = ({ href, isCurrent, children }: SettingLinkProps) => (
  <li>
    <a href={href} aria-current={isCurrent ? 'page' : undefined}>
      {children}
    </a>
  </li>
);

export const settingPath = ({ slug }: { slug: string }, setting: SettingName) =>
  `/o/${slug}/settings/${setting}`;
