import type { Context } from 'hono';
import { Star, Thumb } from '../../responses/view/form.tsx';
import type { ScreenEnv } from '../../sessions/session.ts';
import { type SurveyType, scoresInOrder, typeFacts } from '../../survey-types.ts';
import { Select } from '../../web/app/forms.tsx';
import { Icon } from '../../web/app/icon.tsx';
import { counted } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { languageChoices, languageOf } from '../../web/language.ts';
import {
  type Template,
  templateQuestions,
  templates,
  textsOf,
  type Wording,
} from '../templates.ts';
import { surveysPath } from './parts.tsx';

export function renderTemplates(c: Context<ScreenEnv>, language: string) {
  const surveys = surveysPath(c.var.organization);
  const wording = { language, organization: c.var.organization.name };
  return renderScreen(c, {
    title: 'New survey',
    section: 'surveys',
    trail: [{ text: 'Surveys', href: surveys }],
    about: 'Start from a template. You can change everything before you save.',
    actions: (
      <form method="get" action={`${surveys}/new`} class="toolbar">
        <Select
          name="language"
          label="Language"
          value={language}
          options={languageChoices(language)}
        />
        <button type="submit">Show</button>
      </form>
    ),
    body: (
      <>
        <ul class="grid three">
          {Object.entries(templates).map(([name, template]) => (
            <TemplateCard
              href={`${surveys}/new?template=${name}&language=${language}`}
              template={template}
              wording={wording}
            />
          ))}
          <li class="card template">
            <p class="scale art" aria-hidden="true">
              <span>
                <Icon name="plus" />
              </span>
            </p>
            <h2>
              <a href={`${surveys}/new?template=blank`}>Blank</a>
            </h2>
            <p class="soft">Write your own question on any scale.</p>
          </li>
        </ul>
        <p class="sub">
          Every template comes with follow-up questions, a thank-you message and reminders.
        </p>
      </>
    ),
  });
}

type CardProps = { href: string; template: Template; wording: Wording };

function TemplateCard({ href, template, wording }: CardProps) {
  const { tag, direction } = languageOf(wording.language);
  const questions = templateQuestions(template.texts, wording).length;
  return (
    <li class="card template">
      <ScalePicture type={template.type} />
      <h2>
        <a href={href}>{template.title}</a>
      </h2>
      <p class="soft" lang={tag} dir={direction}>
        {textsOf(template, wording).question_text}
      </p>
      <p class="tags">
        <span class="tag">{template.use}</span>
        <span class="tag">{counted(questions, 'follow-up')}</span>
      </p>
    </li>
  );
}

function ScalePicture({ type }: { type: SurveyType }) {
  const { control, goodScore } = typeFacts(type);
  const stars = control === 'star';
  return (
    <p class={stars ? 'scale stars art' : 'scale art'} aria-hidden="true">
      {scoresInOrder(type).map((score) => (
        <span class={score === goodScore || (stars && score < goodScore) ? 'on' : undefined}>
          {stars ? <Star /> : control === 'thumb' ? <Thumb down={score === 0} /> : score}
        </span>
      ))}
    </p>
  );
}
