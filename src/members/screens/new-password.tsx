import { Field } from '../../web/app/fields.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import { welcomeTexts as texts } from '../screen-texts.ts';

type NewPasswordProps = { name: string; label: string; form: FormState };

/** The field of a password that is chosen, with what makes a good one. */
export function NewPassword({ name, label, form }: NewPasswordProps) {
  return (
    <Field
      name={name}
      label={label}
      form={form}
      type="password"
      help={texts.passwordHelp}
      autocomplete="new-password"
      required
    />
  );
}

/** Lets a password manager know whose password a form is about. */
export function AccountName({ email }: { email: string }) {
  return (
    <input type="text" name="username" value={email} autocomplete="username" readonly hidden />
  );
}
