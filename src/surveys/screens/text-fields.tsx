import { categories } from '../../scores.ts';
import { Field } from '../../web/app/fields.tsx';
import type { FormState } from '../../web/app/read-form.ts';

const names = { promoter: 'promoters', passive: 'passives', detractor: 'detractors' } as const;

type TextFieldsProps = { form: FormState; prefix: string };

/** What a survey says besides its question, in one language. */
export function TextFields({ form, prefix }: TextFieldsProps) {
  const linked = /^(?:follow_up|thanks)\.(?:promoter|passive|detractor)/;
  const isOpen = Object.entries({ ...form.typed, ...form.errors }).some(
    ([name, typed]) =>
      name.startsWith(prefix) && linked.test(name.slice(prefix.length)) && typed.length > 0,
  );
  return (
    <>
      <Field
        name={`${prefix}subject`}
        label="Subject of the mail"
        form={form}
        help="The question when it is empty."
      />
      <Field
        name={`${prefix}intro`}
        label="Before the question, in the mail"
        form={form}
        rows={3}
        help="Texts may address the contact: {{name}}, {{first_name|there}}, {{properties.plan|your plan}}."
      />
      <Field name={`${prefix}follow_up`} label="Question above the comment" form={form} />
      <Field name={`${prefix}thanks`} label="Thanks after the answer" form={form} rows={2} />
      <details class="reveal" open={isOpen}>
        <summary>Other words for each category</summary>
        <div class="fields">
          {categories.map((category) => (
            <>
              <Field
                name={`${prefix}follow_up.${category}`}
                label={`Question above the comment, for ${names[category]}`}
                form={form}
              />
              <Field
                name={`${prefix}thanks.${category}`}
                label={`Thanks to ${names[category]}`}
                form={form}
                rows={2}
              />
              <Field
                name={`${prefix}thanks.${category}.link_url`}
                label={`Link for ${names[category]}`}
                type="url"
                form={form}
                help="An https address."
              />
              <Field
                name={`${prefix}thanks.${category}.link_text`}
                label={`Words of the link for ${names[category]}`}
                form={form}
              />
            </>
          ))}
        </div>
      </details>
    </>
  );
}
