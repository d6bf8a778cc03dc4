import { Choice, Select } from '../../web/app/fields.tsx';
import { nameOfLanguage } from './language-names.ts';

const shown = [
  { value: 'page', text: 'Page' },
  { value: 'mail', text: 'Mail' },
  { value: 'promoter', text: 'Thanks to promoters' },
  { value: 'passive', text: 'Thanks to passives' },
  { value: 'detractor', text: 'Thanks to detractors' },
];

type PreviewProps = { surveys: string; languages: readonly string[] };

/** What contacts will see. The button shows the form as it stands in the frame; a script presses it. */
export function Preview({ surveys, languages }: PreviewProps) {
  return (
    <section class="preview" aria-labelledby="preview">
      <div class="title">
        <h2 id="preview">Preview</h2>
        <button
          type="submit"
          formaction={`${surveys}/preview`}
          formtarget="preview-frame"
          formnovalidate
          data-preview-button
        >
          Preview
        </button>
      </div>
      <div class="inline">
        <Select name="preview.show" label="Of" options={shown} />
        <Select
          name="preview.language"
          label="In"
          options={languages.map((value) => ({ value, text: nameOfLanguage(value) }))}
        />
        <Choice
          name="preview.device"
          label="On a"
          value="phone"
          options={[
            { value: 'phone', text: 'Phone' },
            { value: 'desktop', text: 'Desktop' },
          ]}
        />
        <Choice
          name="preview.scheme"
          label="When it is"
          value="light"
          options={[
            { value: 'light', text: 'Light' },
            { value: 'dark', text: 'Dark' },
          ]}
        />
      </div>
      <div class="screen">
        <iframe name="preview-frame" title="Preview of the survey" />
      </div>
    </section>
  );
}
