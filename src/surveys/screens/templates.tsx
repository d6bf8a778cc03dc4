import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import { Star, Thumb } from '../../responses/view/form.tsx';
import type { ScreenEnv } from '../../sessions/session.ts';
import { type SurveyType, scoresInOrder } from '../../survey-types.ts';
import { Select } from '../../web/app/forms.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { languageChoices, languageOf } from '../../web/language.ts';
import { type Template, templates, textsOf, type Wording } from '../templates.ts';
import { surveysPath } from './parts.tsx';

export function renderTemplates(c: Context<ScreenEnv>, language: string) {
  const surveys = surveysPath(c.var.organization);
  const wording = { language, organization: c.var.organization.name };
  return renderScreen(c, {
    title: 'New survey',
    section: 'surveys',
    trail: [{ text: 'Surveys', href: surveys }],
    body: (
      <>
        <form method="get" action={`${surveys}/new`} class="toolbar">
          <p class="soft">Start from a template. You can change everything before you save.</p>
          <Select
            name="language"
            label="Language"
            size="day"
            value={language}
            options={languageChoices(language)}
          />
          <button type="submit">Show</button>
        </form>
        <ul class="grid three">
          {Object.entries(templates).map(([name, template]) => (
            <TemplateCard
              href={`${surveys}/new?template=${name}&language=${language}`}
              template={template}
              wording={wording}
            />
          ))}
          <li class="card template">
            <h2>
              <a href={`${surveys}/new?template=blank`}>Blank</a>
            </h2>
            <p class="soft">Write your own question on any scale.</p>
          </li>
        </ul>
      </>
    ),
  });
}

type CardProps = { href: string; template: Template; wording: Wording };

function TemplateCard({ href, template, wording }: CardProps) {
  const { tag, direction } = languageOf(wording.language);
  return (
    <li class="card template">
      <ScalePicture type={template.type} />
      <h2>
        <a href={href}>{template.title}</a>
      </h2>
      <p lang={tag} dir={direction}>
        {textsOf(template, wording).question_text}
      </p>
      <p class="sub">{template.use}</p>
    </li>
  );
}

const pictures: Partial<Record<SurveyType, (score: number) => Child>> = {
  star5: () => <Star />,
  thumbs: (score) => <Thumb down={score === 0} />,
};

const ScalePicture = ({ type }: { type: SurveyType }) => (
  <p class="scale art" aria-hidden="true">
    {scoresInOrder(type).map((score) => (
      <span>{(pictures[type] ?? String)(score)}</span>
    ))}
  </p>
);
