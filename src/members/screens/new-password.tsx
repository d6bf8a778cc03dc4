import { Field } from '../../web/app/fields.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import { shortestPassword } from '../password.rules.ts';

const passwordHelp = `${shortestPassword} characters or more. A few words that do not belong together are good.`;

type NewPasswordProps = { name: string; label: string; form: FormState };

/** The field of a password that is chosen, with what makes a good one. */
export function NewPassword({ name, label, form }: NewPasswordProps) {
  return (
    <Field
      name={name}
      label={label}
      form={form}
      type="password"
      help={passwordHelp}
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
