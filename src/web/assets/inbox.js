// The inbox. On wide screens links, forms and keys change the pane beside the list without loading the page.

const wide = matchMedia('(min-width: 64rem)');
const inbox = () => document.querySelector('.inbox');
const pane = () => document.getElementById('answer');
const found = () => document.getElementById('found');
const listAddress = () => found().querySelector('[data-list]').dataset.list;
const rows = () => [...document.querySelectorAll('.messages .who a')];

const currentAddress = () => location.pathname + location.search;
const pathOf = (address) => new URL(address, location.href).pathname;
const searchIn = (address) => new URL(address, location.href).search;

/** The address of the response in the pane. The page of a list opens its first response. */
const shown = () => pane().dataset.address ?? '';
const isOpened = () => pathOf(currentAddress()) !== pathOf(listAddress());
/** The last index of the shown row, which may no longer be in the list. */
let shownIndex = 0;
let pending = new AbortController();
/** Unsaved notes and replies by the path of their form. */
const drafts = new Map();

/** Fetches a page. A newer request aborts an older GET. */
async function load(address, init = {}) {
  const { method = 'GET' } = init;
  pending.abort();
  pending = new AbortController();
  const signal = method === 'GET' ? pending.signal : undefined;
  const response = await fetch(address, { ...init, signal, headers: { Accept: 'text/html' } });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const { pathname, search } = new URL(response.url);
  return { ok: response.ok, page, address: pathname + search };
}

/** Shows a response in the pane, or on its own page if that fails. */
async function open(address, { update = 'push', focus = false } = {}) {
  if (address === shown() && focus && isOpened()) return pane().focus();
  try {
    const result = await load(address);
    if (pathOf(result.address) !== pathOf(address)) throw result;
    saveDraft();
    if (update === 'push') history.pushState(null, '', address);
    if (update === 'replace') history.replaceState(null, '', address);
    showPane(result.page);
    announce(pane().dataset.says);
    if (focus) pane().focus();
  } catch (reason) {
    if (reason?.name !== 'AbortError') location.assign(address);
  }
}

/** Moves the response of a page into the pane, or the whole content of an error page. */
function showPane(page) {
  const next = page.getElementById('answer') ?? paneOf(page);
  const top = next.dataset.address === shown() ? pane().scrollTop : 0;
  pane().replaceWith(document.adoptNode(next));
  next.scrollTop = top;
  inbox().classList.toggle('open', isOpened());
  document.title = page.title;
  for (const text of texts()) {
    if (text.value === '') text.value = drafts.get(pathOf(text.form.action)) ?? '';
  }
  markRow();
}

function paneOf(page) {
  const next = pane().cloneNode();
  next.removeAttribute('aria-labelledby');
  next.ariaLabel = page.title;
  next.append(...page.getElementById('main').childNodes);
  return next;
}

/** The fields of a note and of a reply. */
const texts = () => pane().querySelectorAll('form[action] textarea');
const hasDraft = (form) => form.querySelector('textarea') !== null;

function saveDraft() {
  for (const text of texts()) drafts.set(pathOf(text.form.action), text.value);
}

function markRow() {
  const all = rows();
  const isShown = (row) => pathOf(row.href) === pathOf(shown());
  for (const row of all) {
    if (isShown(row)) row.setAttribute('aria-current', 'true');
    else row.removeAttribute('aria-current');
  }
  const index = all.findIndex(isShown);
  if (index >= 0) shownIndex = index;
}

const announce = (says) =>
  document.dispatchEvent(new CustomEvent('askback:shown', { detail: { says } }));

/** True for a response and its delete page. */
const isForPane = (address) => {
  const list = pathOf(listAddress());
  return (
    pathOf(address).startsWith(`${list}/`) &&
    /^\/[\da-f-]{36}(\/delete)?$/.test(pathOf(address).slice(list.length))
  );
};

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('.inbox a[href]');
  const hasModifier = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
  if (!link || !wide.matches || hasModifier || event.defaultPrevented || !isForPane(link.href))
    return;
  event.preventDefault();
  const isByKey = event.detail === 0;
  open(pathOf(link.href) + link.search, { focus: isByKey || pane().contains(link) });
});

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  const isInPane = pane().contains(form);
  if (form.method !== 'post' || !wide.matches) return;
  if (!isInPane && !found().contains(form)) return;
  event.preventDefault();
  (isInPane ? submitOne : submitMany)(form, submitter);
});

async function post(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  submitter?.setAttribute('aria-busy', 'true');
  const result = await load(form.action, { method: 'POST', body }).catch(() => ({}));
  submitter?.removeAttribute('aria-busy');
  if (!result.page) warnUnreachable();
  return result;
}

/** Submits a form of the pane, then updates the pane and the list. */
async function submitOne(form, submitter) {
  const [before, index] = [shown(), shownIndex];
  const { page, address, ok } = await post(form, submitter);
  if (!page) return;
  if (ok || hasDraft(form)) saveDraft();
  if (hasDraft(form)) drafts.delete(pathOf(form.action));
  const notice = page.querySelector('#main > .notice');
  const isGone = ok && pathOf(address) === pathOf(listAddress());
  if (shown() === before) {
    if (isGone) history.replaceState(null, '', address);
    showPane(page);
    if (notice) pane().prepend(notice);
  }
  showCounts(page);
  if (ok) await refreshList(page);
  if (isGone) await openRow(index, notice);
  else if (document.activeElement === document.body) restoreFocus(form, submitter);
  announce(notice?.textContent);
}

/** Opens the next response after a deletion. */
async function openRow(index, notice) {
  const row = rows()[Math.min(index, rows().length - 1)];
  if (!row) return;
  row.focus();
  await open(pathOf(row.href) + searchIn(row.href), { update: 'none' });
  if (notice) pane().prepend(notice);
}

/** Submits the form of the list, then updates the list and the pane. */
async function submitMany(form, submitter) {
  const address = shown();
  const { page } = await post(form, submitter);
  if (!page) return;
  if (!page.getElementById('found')) return showPane(page);
  const notice = page.querySelector('#main > .notice');
  document.querySelector('#main > .notice')?.remove();
  if (notice) document.querySelector('#main > .head').after(notice);
  showCounts(page);
  await refreshList(page);
  if (address) await open(address, { update: 'none' });
  announce(notice?.textContent);
}

function warnUnreachable() {
  const notice = document.createElement('div');
  notice.className = 'notice is-poor';
  notice.role = 'alert';
  notice.textContent = 'The service cannot be reached. Your change may not be saved. Try again.';
  pane().querySelector('.notice')?.remove();
  pane().prepend(notice);
  pane().scrollTop = 0;
}

/** Focuses the same button again, or the pane. */
function restoreFocus({ action }, submitter) {
  const button = [...pane().querySelectorAll('button')].find(
    ({ form, name, value }) =>
      form?.action === action && name === submitter?.name && value === submitter?.value,
  );
  (button ?? pane()).focus({ preventScroll: true });
}

/** Updates the counts of the navigation. */
function showCounts(page) {
  const [now, next] = [document, page].map((each) => each.querySelector('.rail nav'));
  if (now && next) now.replaceWith(document.adoptNode(next));
}

/** Morphs the list, so that checkboxes and focus stay with their rows. */
async function refreshList(page) {
  const text = page.getElementById('found')?.outerHTML;
  if (!text) return;
  const options = { target: '#found', select: '#found', swap: 'outerMorph' };
  await htmx.swap({ ...options, text, sourceElement: document.body });
  markRow();
}

// After a filter changed the list, the address of an opened response gets the new filters.
document.addEventListener('htmx:before:swap', saveDraft);
document.addEventListener('htmx:after:swap', ({ detail }) => {
  if (!detail.ctx.sourceElement?.matches?.('form.toolbar')) return;
  const opened = inbox().classList.contains('open');
  markRow();
  if (opened && wide.matches)
    open(pathOf(shown()) + searchIn(listAddress()), { update: 'replace' });
  else
    load(listAddress()).then(
      ({ page }) => showPane(page),
      () => {},
    );
});

const steps = { ArrowDown: 1, j: 1, ArrowRight: 1, ArrowUp: -1, k: -1, ArrowLeft: -1 };
const keyUsers = 'input:not([type=checkbox]), select, textarea, summary, [contenteditable]';
const useKeys = document.getElementById('use-keys');
useKeys.checked = localStorage.getItem('askback-keys') !== 'off';
useKeys.addEventListener('change', () =>
  localStorage.setItem('askback-keys', useKeys.checked ? 'on' : 'off'),
);

// Up and down work in the list, left and right also in the pane, letters everywhere.
document.addEventListener('keydown', (event) => {
  const { key, target } = event;
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (key === 'Escape' && pane().contains(target) && !target.matches('select')) return focusRow();
  if (target.closest?.(keyUsers) || (key.length === 1 && !useKeys.checked)) return;
  const isInList = target.closest?.('.list-pane') !== null;
  const isStep = wide.matches && steps[key] && (isInList || !/^Arrow(Up|Down)$/.test(key));
  if (!isStep && !press(key)) return;
  event.preventDefault();
  if (isStep) step(steps[key], isInList);
});

/** Presses or focuses the control of a key. */
function press(key) {
  const control = [...document.querySelectorAll('main [aria-keyshortcuts]')].find(
    (each) => each.getAttribute('aria-keyshortcuts') === key && each.checkVisibility(),
  );
  if (!control) return false;
  if (control.matches('input, textarea')) control.focus();
  else control.click();
  if (control.matches('summary')) control.parentElement.querySelector('[open] button')?.focus();
  return true;
}

const focusRow = () =>
  rows()
    .find((row) => row.matches('[aria-current]'))
    ?.focus();

async function step(by, isInList) {
  const all = rows();
  const focused = all.findIndex((row) => row.closest('li').contains(document.activeElement));
  const current = all.findIndex((row) => row.matches('[aria-current]'));
  const index = focused >= 0 ? focused : current;
  // After the shown row has left the list, the next row has its index.
  const next = index >= 0 ? index + by : shownIndex + (by > 0 ? 0 : -1);
  const row = all[next] ?? (await turnPage(by));
  if (!row) return;
  if (isInList) row.focus();
  else row.scrollIntoView({ block: 'nearest' });
  const focus = pane().contains(document.activeElement);
  await open(pathOf(row.href) + searchIn(row.href), { focus });
}

async function turnPage(by) {
  const link = found().querySelector(`a[rel=${by > 0 ? 'next' : 'prev'}]`);
  if (!link) return undefined;
  const options = { target: '#found', select: '#found', swap: 'outerHTML' };
  await globalThis.htmx.ajax('GET', link.getAttribute('href'), options);
  return rows().at(by > 0 ? 0 : -1);
}

// Back and forward within the same list only change the pane.
addEventListener('popstate', async () => {
  const to = currentAddress();
  if (searchIn(listAddress()) !== location.search) return location.reload();
  await open(to, { update: 'none' });
  // The browser has moved the focus to the body.
  if (document.activeElement === document.body) focusRow();
});
document.addEventListener('htmx:before:history:restore', (event) => event.preventDefault());

markRow();
