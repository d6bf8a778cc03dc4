// Progressive enhancement: copy buttons, local times, menus that close, keyboard shortcuts, previews.

const moments = {
  moment: { dateStyle: 'medium', timeStyle: 'short' },
  second: { dateStyle: 'medium', timeStyle: 'medium' },
  day: { dateStyle: 'medium' },
  ago: { dateStyle: 'medium' },
};
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

function showTimes() {
  for (const element of document.querySelectorAll('time[data-time]')) {
    const date = new Date(element.dateTime);
    const kind = element.dataset.time;
    const seconds = (date - Date.now()) / 1000;
    element.title = exact.format(date);
    const isNear = kind === 'ago' && Math.abs(seconds) < 7 * 86_400;
    element.textContent = isNear
      ? ago(seconds)
      : new Intl.DateTimeFormat('en-GB', moments[kind] ?? moments.moment).format(date);
  }
}

function fillTimeZones() {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  for (const field of document.querySelectorAll('input[data-time-zone]')) field.value = timeZone;
  for (const link of document.querySelectorAll('a[data-time-zone]')) {
    const url = new URL(link.href);
    url.searchParams.set('time_zone', timeZone);
    link.href = url;
  }
}

/** Shows the reader's local time next to a time typed in another time zone. */
function showOwnTimes() {
  for (const hint of document.querySelectorAll('[data-own-time]')) {
    const typed = Date.parse(`${hint.previousElementSibling.querySelector('input').value}Z`) || 0;
    let at = typed;
    for (const _ of 'ab') at += typed - clockIn(hint.dataset.ownTime, at); // twice, because of daylight saving time
    hint.hidden = !typed || clockIn(undefined, at) === typed;
    hint.textContent = `${new Intl.DateTimeFormat('en-GB', moments.moment).format(at)} in your time zone`;
  }
}

const clockIn = (timeZone, at) =>
  Date.parse(`${new Date(at).toLocaleString('sv', { timeZone }).replace(' ', 'T')}Z`);

document.addEventListener('input', showOwnTimes);

function ago(seconds) {
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return unit === 'second' ? 'just now' : relative.format(Math.round(seconds / size), unit);
}

document.addEventListener('click', async ({ target }) => {
  const button = target.closest?.('[data-copy]');
  if (button) {
    const { id, value, textContent } = document.getElementById(button.dataset.copy) ?? {};
    if (!id) return;
    await navigator.clipboard.writeText(value ?? textContent);
    button.textContent = 'Copied';
  }
  for (const menu of document.querySelectorAll('details.menu[open]')) {
    if (!menu.contains(target)) menu.open = false;
  }
});

document.addEventListener('keydown', ({ key, target }) => {
  const open = key === 'Escape' && target.closest?.('details.menu[open], details.fold[open]');
  if (!open) return;
  open.open = false;
  open.querySelector('summary').focus();
});

// "Select all" checks every checkbox of its form.
document.addEventListener('change', ({ target }) => {
  if (!target.closest?.('[data-choose-all]')) return;
  for (const checkbox of target.form.querySelectorAll('input[type=checkbox]'))
    checkbox.checked = target.checked;
});

/** Runs on load and after each swap. */
function enhance() {
  showTimes();
  fillTimeZones();
  showOwnTimes();
  const hidden = navigator.clipboard ? '[data-copy], [data-choose-all]' : '[data-choose-all]';
  for (const element of document.querySelectorAll(hidden)) element.hidden = false;
}

/** Updates the preview of a form while the reader types. A new frame replaces the old one when loaded, so nothing flickers. */
for (const form of document.querySelectorAll('form[data-preview]')) {
  let timer;
  const show = () => {
    const old = form.querySelector('iframe:not(.coming)');
    form.querySelector('iframe.coming')?.remove();
    const next = old.cloneNode();
    next.removeAttribute('src');
    next.classList.add('coming');
    old.name = '';
    old.after(next);
    // A form submitted from inside the frame replaces the blank page in the history.
    next.addEventListener('load', () => {
      old.remove();
      next.classList.remove('coming');
    });
    submitIn(next.contentDocument);
  };
  const submitIn = (inside) => {
    const copy = inside.createElement('form');
    copy.method = 'post';
    copy.action = form.querySelector('[data-preview-button]').formAction;
    for (const [name, value] of new FormData(form)) {
      const input = inside.createElement('textarea');
      Object.assign(input, { name, value });
      copy.append(input);
    }
    inside.body.append(copy);
    copy.submit();
  };
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(show, 300);
  });
  show();
}

enhance();

// Leaves empty filters out of the address.
document.addEventListener('htmx:config:request', ({ detail }) => {
  const { method, form, body } = detail.ctx.request;
  if (method !== 'GET' || !form) return;
  const filters = [...body].filter(([, value]) => value !== '');
  for (const name of [...body.keys()]) body.delete(name);
  for (const [name, value] of filters) body.append(name, value);
});

// On an error the part stays as it is. After a redirect or a refusal the page reloads, to show the sign-in or the error.
document.addEventListener('htmx:before:response', (event) => {
  const { status, raw } = event.detail.ctx.response;
  const requested = new URL(event.detail.ctx.request.action, location.href).pathname;
  const isRedirected = raw.redirected && new URL(raw.url).pathname !== requested;
  if (!isRedirected && (status < 400 || status === 422)) return;
  event.preventDefault();
  if (isRedirected || (status < 500 && status !== 429)) location.reload();
  else say('This part could not be updated.');
});

// Announces a swap to screen readers.
document.addEventListener('htmx:after:swap', ({ detail }) => {
  enhance();
  const target = document.getElementById(detail.ctx.target?.id ?? '');
  if (target?.dataset.says) say(target.dataset.says);
});

// Dispatched by inbox.js after it changed the page.
document.addEventListener('askback:shown', ({ detail }) => {
  enhance();
  if (detail.says) say(detail.says);
});

function say(text) {
  const says = document.getElementById('says');
  if (says && says.textContent !== text) says.textContent = text;
}
