import type { Child } from 'hono/jsx';
import { assetUrl } from '../../web/app/assets.ts';

type PasskeyFormProps = {
  /** Whether the browser makes a passkey or shows one. */
  kind: 'create' | 'get';
  action: string;
  /** Where its question comes from. */
  options: string;
  button: string;
  primary?: boolean;
  children?: Child;
};

/** A form that the browser answers with a passkey. It stays hidden where no script can ask for one. */
export function PasskeyForm(props: PasskeyFormProps) {
  const { kind, action, options, button, primary = false, children } = props;
  return (
    <>
      <form
        method="post"
        action={action}
        class="fields"
        data-passkey={kind}
        data-options={options}
        hidden
      >
        {children}
        <input type="hidden" name="credential" />
        <button type="submit" class={primary ? 'primary' : undefined}>
          {button}
        </button>
        <p class="mistake is-failed" role="alert" />
      </form>
      <noscript>
        <p class="small soft">Passkeys need JavaScript, which is off in this browser.</p>
      </noscript>
      <script src={assetUrl('passkeys.js')} defer />
    </>
  );
}
