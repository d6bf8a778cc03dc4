import type { Context } from 'hono';
import type { ScreenEnv } from '../../sessions/session.ts';
import { scoresInOrder } from '../../survey-types.ts';
import { CopyButton, Notice } from '../../web/app/badges.tsx';
import { LinkButton } from '../../web/app/forms.tsx';
import { renderSurveyScreen } from '../../web/app/survey-screen.tsx';
import { edgeContrast, mix, readableOn } from '../../web/color.ts';
import { buttonText, languageOf, scaleLegend } from '../../web/language.ts';
import { shareUrl } from '../lifecycle.ts';
import type { ManagedSurvey } from '../queries.ts';
import { embeddingOf } from '../schemas.ts';
import { anyPerson, fillIn } from '../texts.ts';
import { canEdit, surveyPath } from './parts.tsx';

const notOpen = {
  draft: 'This survey is a draft. Its link collects no responses until you open it.',
  hand: 'This survey is closed. Its link collects no responses.',
  answers: 'Every contact has responded. Its link still collects responses.',
  active: '',
  completed: '',
} as const;

export function renderShare(c: Context<ScreenEnv>, survey: ManagedSurvey, publicUrl: string) {
  const { organization } = c.var;
  const here = surveyPath(c, survey);
  return renderSurveyScreen(c, {
    survey,
    tab: 'share',
    title: `Share “${survey.name}”`,
    body: (
      <>
        {survey.status === 'active' ? null : (
          <Notice kind="warning" text={notOpen[survey.completed_by ?? survey.status]} />
        )}
        <div class="grid half">
          <Link survey={survey} here={here} publicUrl={publicUrl} />
          <div class="stack">
            <Website survey={survey} here={here} publicUrl={publicUrl} edits={canEdit(c)} />
            <Buttons survey={survey} publicUrl={publicUrl} color={organization.color} />
          </div>
        </div>
      </>
    ),
  });
}

type ShareProps = { survey: ManagedSurvey; here: string; publicUrl: string };

function Link({ survey, here, publicUrl }: ShareProps) {
  const url = shareUrl(publicUrl, survey) ?? '';
  return (
    <section class="card" aria-labelledby="link">
      <h2 id="link">Link and QR code</h2>
      <p class="sub">Anyone with the link can respond once per browser.</p>
      <div class="secret">
        <label class="hidden" for="share-url">
          Link
        </label>
        <input id="share-url" readonly value={url} />
        <CopyButton from="share-url" />
      </div>
      <img
        class="qr"
        src={`${here}/share/qr.svg`}
        alt={`QR code of ${url}`}
        width="200"
        height="200"
      />
      <p>
        <LinkButton href={`${here}/share/qr.svg?download=true`} download text="Download QR code" />
      </p>
    </section>
  );
}

function Website({ survey, here, publicUrl, edits }: ShareProps & { edits: boolean }) {
  const { origins } = embeddingOf(survey.embed);
  return (
    <section class="card" aria-labelledby="website">
      <h2 id="website">On a website</h2>
      {origins.length === 0 ? (
        <p>
          Not enabled for any website.{' '}
          {edits ? <a href={`${here}/edit#embed.origins`}>Add websites</a> : null}
        </p>
      ) : (
        <>
          <p class="sub">
            Add this code to the pages of {origins.join(', ')}. It sets no cookies and does not
            track visitors. Values in data-properties are saved with the response: change or remove
            them.
          </p>
          <Snippet
            id="website-line"
            label="Code for the website"
            text={embedCode(survey, publicUrl)}
          />
        </>
      )}
    </section>
  );
}

function embedCode(survey: ManagedSurvey, publicUrl: string): string {
  const { position, delay_seconds, every_days } = embeddingOf(survey.embed);
  const timing =
    position === 'corner' ? ` data-delay="${delay_seconds}" data-every="${every_days}"` : '';
  return `<script async src="${publicUrl}/embed.js" data-survey="${survey.share_id}" data-position="${position}"${timing} data-properties='{"page":"pricing"}'></script>`;
}

type ButtonsProps = Pick<ShareProps, 'survey' | 'publicUrl'> & { color: string };

const Buttons = (props: ButtonsProps) => (
  <section class="card" aria-labelledby="buttons">
    <h2 id="buttons">Score buttons for your own emails</h2>
    <p class="sub">
      Paste this HTML into your own emails, such as a support signature. Each button opens the
      survey with its score selected.
    </p>
    <Snippet id="mail-buttons" label="HTML of the score buttons" text={scoreButtons(props)} />
  </section>
);

type SnippetProps = { id: string; label: string; text: string };

/** Folded, because few readers want to read it before they copy it. */
const Snippet = ({ id, label, text }: SnippetProps) => (
  <>
    <CopyButton from={id} text="Copy code" />
    <details class="reveal">
      <summary>{label}</summary>
      <textarea id={id} aria-label={label} rows={8} readonly spellcheck={false}>
        {text}
      </textarea>
    </details>
  </>
);

/** A table with inline styles and no external resources, so that every email client can show it. */
function scoreButtons({ survey, publicUrl, color }: ButtonsProps): string {
  const { texts, direction } = languageOf(survey.language);
  const url = shareUrl(publicUrl, survey);
  const legend = scaleLegend(survey.type, texts);
  const html = (
    <table role="presentation" cellpadding="0" cellspacing="0" border={0} dir={direction}>
      <tbody>
        <tr>
          <td
            style={`padding:0 0 8px;${font};font-size:16px;line-height:22px`}
            lang={survey.language}
          >
            {fillIn(survey.question_text, anyPerson)}
          </td>
        </tr>
        <tr>
          <td style="line-height:52px">
            {scoresInOrder(survey.type).map((score) => (
              <a href={`${url}?score=${score}`} style={buttonStyle(color)}>
                {buttonText(survey.type, score, texts)}
              </a>
            ))}
          </td>
        </tr>
        {legend && (
          <tr>
            <td style={`padding:4px 0 0;${font};font-size:13px;line-height:18px`}>{legend}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
  return String(html).replaceAll('<a ', '\n<a ').replaceAll('<tr>', '\n<tr>');
}

const font = 'font-family:Arial,Helvetica,sans-serif';

function buttonStyle(color: string): string {
  const ground = mix('#ffffff', color, 0.09);
  const ink = readableOn(color, ground);
  const edge = readableOn(color, '#ffffff', edgeContrast);
  return `display:inline-block;min-width:24px;margin:0 4px 4px 0;padding:10px;${font};font-size:16px;font-weight:bold;line-height:22px;text-align:center;text-decoration:none;color:${ink};background:${ground};border:1px solid ${edge};border-radius:8px`;
}
