// What plain pages cannot do: copy, times in the reader's zone, menus that close. All of it is an extra.

const moments = {
  moment: { dateStyle: 'medium', timeStyle: 'short' },
  second: { dateStyle: 'medium', timeStyle: 'medium' },
  day: { dateStyle: 'medium' },
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
  for (const field of document.querySelectorAll('[data-time-zone]')) field.value = timeZone;
}

/** The reader's own time beside one that is typed in another zone. */
function showOwnTimes() {
  for (const hint of document.querySelectorAll('[data-own-time]')) {
    const typed = Date.parse(`${hint.previousElementSibling.querySelector('input').value}Z`) || 0;
    let at = typed;
    for (const _ of 'ab') at += typed - clockIn(hint.dataset.ownTime, at); // again, for a change of the clock
    hint.hidden = !typed || clockIn(undefined, at) === typed;
    hint.textContent = `${new Intl.DateTimeFormat('en-GB', moments.moment).format(at)} in your own time zone`;
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

// The arrow keys lead to the newer and the older response or page, where they have nothing else to do.
const ways = { ArrowLeft: 'prev', ArrowRight: 'next' };
const ownKeys = 'input, select, textarea, summary, iframe, .scroll, [contenteditable]';

document.addEventListener('keydown', (event) => {
  const { key, target } = event;
  const isChorded = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
  if (isChorded || event.defaultPrevented || !ways[key] || target.closest?.(ownKeys)) return;
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) return;
  document.querySelector(`main a[rel=${ways[key]}]`)?.click();
});

// One tick for all ticks of its form.
document.addEventListener('change', ({ target }) => {
  if (!target.closest?.('[data-choose-all]')) return;
  for (const tick of target.form.querySelectorAll('input[type=checkbox]'))
    tick.checked = target.checked;
});

/** Shows what works only with script; again after each swap. */
function enhance() {
  showTimes();
  fillTimeZones();
  showOwnTimes();
  const hidden = navigator.clipboard ? '[data-copy], [data-choose-all]' : '[data-choose-all]';
  for (const element of document.querySelectorAll(hidden)) element.hidden = false;
  for (const [key, rel] of Object.entries(ways)) {
    for (const link of document.querySelectorAll(`main a[rel=${rel}]`)) {
      link.setAttribute('aria-keyshortcuts', key);
      link.title = key === 'ArrowLeft' ? 'Key: left arrow' : 'Key: right arrow';
    }
  }
}

/**
 * A form with a preview shows it as one types: it presses the form's own button. Each time in a new frame, which takes
 * the place of the old one once it is there, so that nothing flickers.
 */
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
    // Its first load, of nothing, is over by now. What it submits itself then takes the place of that in the history.
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

// The address that a form of filters makes has those that are set, and no others.
document.addEventListener('htmx:config:request', ({ detail }) => {
  const { method, form, body } = detail.ctx.request;
  if (method !== 'GET' || !form) return;
  const set = [...body].filter(([, value]) => value !== '');
  for (const name of [...body.keys()]) body.delete(name);
  for (const [name, value] of set) body.append(name, value);
});

// A part that cannot be had stays as it is while the service is busy; a reader who was signed out is led to sign in.
document.addEventListener('htmx:before:response', (event) => {
  const { status, raw } = event.detail.ctx.response;
  const asked = new URL(event.detail.ctx.request.action, location.href).pathname;
  const isElsewhere = raw.redirected && new URL(raw.url).pathname !== asked;
  if (!isElsewhere && (status < 400 || status === 422)) return;
  event.preventDefault();
  if (isElsewhere || (status < 500 && status !== 429)) location.reload();
  else say('This part could not be updated.');
});

// What was swapped says so, once, in a live region.
document.addEventListener('htmx:after:swap', ({ detail }) => {
  enhance();
  const target = document.getElementById(detail.ctx.target?.id ?? '');
  if (target?.dataset.says) say(target.dataset.says);
});

// A script that shows a part of another page says so too.
document.addEventListener('askback:shown', ({ detail }) => {
  enhance();
  if (detail.says) say(detail.says);
});

function say(text) {
  const says = document.getElementById('says');
  if (says && says.textContent !== text) says.textContent = text;
}
