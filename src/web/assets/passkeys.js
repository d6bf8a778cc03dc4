// Passkeys: a form that asks the browser for one before it is sent. Without this script it stays hidden.

const texts = {
  old: 'This browser is too old for passkeys.',
  cancelled: 'No passkey was chosen. Nothing has changed.',
  known: 'This device has a passkey for your account already.',
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
        say(form, sentence(error));
      });
  });
}

/** The question comes from the server each time, because an answer counts once. */
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

function sentence({ name, message }) {
  if (name === 'NotAllowedError' || name === 'AbortError') return texts.cancelled;
  if (name === 'InvalidStateError') return texts.known;
  return Object.values(texts).includes(message) ? message : texts.failed;
}

function say(form, text) {
  form.querySelector('[role=alert]').textContent = text;
}
