type TabsProps = {
  organization: { slug: string };
  id: string;
  current: 'numbers' | 'contacts' | 'send' | 'share';
};

export function SurveyTabs({ organization, id, current }: TabsProps) {
  const here = `/o/${organization.slug}/surveys/${id}`;
  const tabs = [
    ['numbers', 'Numbers', here],
    ['contacts', 'Contacts', `${here}/contacts`],
    ['send', 'Send', `${here}/send`],
    ['share', 'Share', `${here}/share`],
  ] as const;
  return (
    <nav aria-label="Survey">
      <ul class="segments">
        {tabs.map(([tab, text, href]) => (
          <li>
            <a href={href} aria-current={tab === current ? 'page' : undefined}>
              {text}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
