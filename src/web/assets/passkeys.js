// Asks the browser for a passkey before a form is submitted. Without script the form stays hidden.

const texts = {
  old: 'This browser doesn’t support passkeys.',
  cancelled: 'No passkey was selected. Nothing has changed.',
  known: 'This device already has a passkey for your account.',
  failed: 'The passkey could not be used. Try again.',
};

for (const form of document.querySelectorAll('form[data-passkey]')) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const button = form.querySelector('[type=submit]');
    button.disabled = true;
    say(form, '');
    ask(form)
      .then((credential) => {
        form.elements.credential.value = JSON.stringify(credential);
        form.submit();
      })
      .catch((error) => {
        button.disabled = false;
        say(form, describeError(error));
      });
  });
}

/** Fetches a new challenge each time, because the server accepts each challenge only once. */
async function ask(form) {
  if (!window.PublicKeyCredential?.parseCreationOptionsFromJSON) throw new TypeError(texts.old);
  const answer = await fetch(form.dataset.options, { method: 'POST' });
  if (!answer.ok) throw new Error(texts.failed);
  const options = await answer.json();
  return form.dataset.passkey === 'create'
    ? navigator.credentials.create({
        publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
      })
    : navigator.credentials.get({
        publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
      });
}

function describeError({ name, message }) {
  if (name === 'NotAllowedError' || name === 'AbortError') return texts.cancelled;
  if (name === 'InvalidStateError') return texts.known;
  return Object.values(texts).includes(message) ? message : texts.failed;
}

function say(form, text) {
  form.querySelector('[role=alert]').textContent = text;
}
