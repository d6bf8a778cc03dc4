import { Choice, Field } from '../../web/app/fields.tsx';
import type { FormState } from '../../web/app/read-form.ts';

/** Which websites may show the survey, and how. */
export function EmbedFields({ form }: { form: FormState }) {
  return (
    <>
      <Field
        name="embed.origins"
        label="Websites"
        form={form}
        rows={2}
        help="The origins that may show it, such as https://www.example.com, one a line. The lines to put there are under Share."
      />
      <Choice
        name="embed.position"
        label="Where"
        form={form}
        value={form.typed['embed.position'] ?? 'corner'}
        options={[
          { value: 'corner', text: 'In a corner' },
          { value: 'inline', text: 'In the page, where its line stands' },
        ]}
      />
      <Field
        name="embed.delay_seconds"
        label="Shows after so many seconds"
        form={form}
        inputmode="numeric"
        value={5}
        size="day"
      />
      <Field
        name="embed.every_days"
        label="Again after so many days"
        form={form}
        inputmode="numeric"
        value={30}
        size="day"
      />
    </>
  );
}
