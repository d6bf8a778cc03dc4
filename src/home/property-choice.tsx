import { Field } from '../web/app/fields.tsx';
import type { FormState } from '../web/app/read-form.ts';

type PropertyChoiceProps = {
  path: string;
  /** What is chosen already, which stays. */
  stays: Readonly<Record<string, string | undefined>>;
  form: FormState;
};

/** Only what has a property, typed as `plan=pro`. */
export function PropertyChoice({ path, stays, form }: PropertyChoiceProps) {
  const isChosen = Object.keys(stays).some((name) => name.startsWith('property.'));
  const hasMistake = 'property' in form.errors;
  return (
    <details class="unfold" open={hasMistake}>
      <summary class={isChosen ? 'button chosen' : 'button'}>Only one property</summary>
      <form method="get" action={path} class="inline">
        {Object.entries(stays).map(([name, value]) =>
          value ? <input type="hidden" name={name} value={value} /> : null,
        )}
        <Field
          name="property"
          label="Property"
          placeholder="plan=pro"
          autocomplete="off"
          form={form}
          help="Only responses of contacts with this property."
          required
        />
        <button type="submit">Apply</button>
      </form>
    </details>
  );
}
