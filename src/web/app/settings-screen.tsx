import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import { emptyForm, type FormState, statusOf } from './forms.tsx';
import { readerOf, renderScreen, type Screen } from './screen.tsx';

/** The settings pages in order, by the last part of their path. */
const settings = {
  general: 'General',
  texts: 'Texts',
  'canned-texts': 'Canned texts',
  mail: 'Mail',
  usage: 'Usage',
  members: 'Members',
  'api-keys': 'API Keys',
  audit: 'Audit',
  import: 'Import',
  tags: 'Tags',
  notifications: 'Notifications',
} as const;

const groups = {
  Organization: ['general', 'texts', 'canned-texts'],
  Sending: ['mail', 'usage'],
  Access: ['members', 'api-keys', 'audit'],
  Data: ['import', 'tags', 'notifications'],
} as const satisfies Record<string, readonly SettingName[]>;

export type SettingGroup = keyof typeof groups;
export const settingGroups = Object.keys(groups) as SettingGroup[];

export type SettingName = keyof typeof settings;

const ownerSettings: readonly string[] = ['api-keys', 'members', 'mail', 'texts', 'audit'];

export const maySee = (role: string | undefined, setting: SettingName): boolean =>
  role === 'owner' ||
  (!ownerSettings.includes(setting) && !(role === 'viewer' && setting === 'import'));

type SettingsScreen = Pick<Screen, 'body' | 'trail' | 'status'> & {
  /** Null for the overview. */
  setting: SettingName | null;
  /** The name of the setting by default. */
  title?: string;
};

/** A settings page, next to the navigation between the settings that the member's role may see. */
export function renderSettings(c: Context, screen: SettingsScreen): Response {
  const { setting, body, title = setting ? settings[setting] : 'Settings', ...rest } = screen;
  const { organization } = readerOf(c);
  return renderScreen(c, {
    ...rest,
    title,
    heading: 'Settings',
    section: 'settings',
    body: (
      <div class="settings">
        {organization ? (
          <details class="reveal wide-open sub-nav">
            <summary>All settings</summary>
            <nav aria-label="Settings">
              <ul>
                <SettingLink
                  href={`/o/${organization.slug}/settings/overview`}
                  isCurrent={setting === null}
                >
                  Overview
                </SettingLink>
              </ul>
              {settingGroups.map((group) => {
                const names = groups[group].filter((name) => maySee(organization.role, name));
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

type SettingForm = { setting: SettingName; title: string; body: Child; form?: FormState };

/** A page below a setting, such as a form or a confirmation. */
export function renderSettingForm(
  c: Context,
  { setting, title, body, form = emptyForm() }: SettingForm,
) {
  return renderSettings(c, {
    setting,
    title,
    body: (
      <Part id="form" title={title}>
        {body}
      </Part>
    ),
    trail: [{ text: settings[setting], href: settingPath(c.get('organization'), setting) }],
    status: statusOf(form),
  });
}

export const settingPath = ({ slug }: { slug: string }, setting: SettingName) =>
  `/o/${slug}/settings/${setting}`;

type PartProps = { id: string; title: string; act?: Child; children?: Child };

/** A section of a settings page. `act` is next to its heading. */
export function Part({ id, title, act, children }: PartProps) {
  return (
    <section class="card" aria-labelledby={id}>
      <div class="title">
        <h2 id={id}>{title}</h2>
        {act}
      </div>
      {children}
    </section>
  );
}
