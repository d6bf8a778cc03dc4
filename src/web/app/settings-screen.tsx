import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import { emptyForm, type FormState, statusOf } from './forms.tsx';
import { readerOf, renderScreen, type Screen } from './screen.tsx';

/** The settings pages in order, by the last part of their path. */
const settings = {
  general: 'General',
  'api-keys': 'API Keys',
  members: 'Members',
  mail: 'Mail',
  import: 'Import',
  tags: 'Tags',
  texts: 'Texts',
  'canned-texts': 'Canned texts',
  notifications: 'Notifications',
  usage: 'Usage',
  audit: 'Audit',
} as const;

export type SettingName = keyof typeof settings;

const ownerSettings: readonly string[] = ['api-keys', 'members', 'mail', 'texts', 'audit'];

type SettingsScreen = Pick<Screen, 'body' | 'trail' | 'status'> & {
  setting: SettingName;
  /** The name of the setting by default. */
  title?: string;
};

/** A settings page, next to the navigation between the settings that the member's role may see. */
export function renderSettings(c: Context, screen: SettingsScreen): Response {
  const { setting, body, title = settings[setting], ...rest } = screen;
  const { organization } = readerOf(c);
  const shown = Object.entries(settings).filter(
    ([name]) =>
      organization?.role === 'owner' ||
      !(ownerSettings.includes(name) || (organization?.role === 'viewer' && name === 'import')),
  );
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
                {shown.map(([name, text]) => (
                  <li>
                    <a
                      href={settingPath(organization, name as SettingName)}
                      aria-current={name === setting ? 'page' : undefined}
                    >
                      {text}
                    </a>
                  </li>
                ))}
              </ul>
            </nav>
          </details>
        ) : null}
        <div class="stack">{body}</div>
      </div>
    ),
  });
}

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
