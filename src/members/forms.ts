import * as v from 'valibot';
import { Line } from '../lib/cli/options.ts';
import { isMailable, normalizeEmail } from '../lib/smtp/address.ts';

// What people type when they come in.

export const EmailField = v.pipe(
  v.string(),
  v.trim(),
  v.check(isMailable, 'Enter an email address such as ann@example.com.'),
  v.transform((text) => normalizeEmail(text) ?? text),
);

export const NameField = v.pipe(v.string(), v.trim(), v.nonEmpty('Enter a name.'), Line(200));

const longestTyped = 1000;

/** A password to be compared: whatever it is, it is wrong or right. */
export const PasswordField = v.pipe(
  v.string(),
  v.nonEmpty('Enter the password.'),
  v.maxLength(longestTyped, 'The password is too long.'),
);

/** A password to be set; `refusePassword` judges it once it is known whose it is. */
export const NewPasswordField = v.pipe(
  v.string(),
  v.nonEmpty('Choose a password.'),
  v.maxLength(longestTyped, 'The password is too long.'),
);
