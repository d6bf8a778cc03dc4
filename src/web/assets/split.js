// On wide screens the inbox shows the selected response in a pane next to the list.

const wide = matchMedia('(min-width: 68.75rem)');
const pane = () => document.getElementById('answer');
const found = () => document.getElementById('found');
const isSplit = () => pane()?.parentElement.matches('.split') ?? false;
const listAddress = () => found()?.querySelector('[data-list]')?.dataset.list;
const rows = () => [...document.querySelectorAll('.messages .who a')];

const currentAddress = () => location.pathname + location.search;

/** The address of the response in the pane, or of the list if none is selected. */
let shown = currentAddress();
/** The last index of the shown row, which may have left the list since. */
let shownIndex = -1;
let pending = new AbortController();
let emptyPane;
/** Unsaved notes and replies by the path of their form. */
const drafts = new Map();

/** Adds the list next to a response that was opened by its own address. */
async function addList() {
  const list = pane()?.dataset.list;
  if (!wide.matches || isSplit() || !list) return;
  const { ok, page } = await load(list).catch(() => ({ ok: false }));
  const main = page?.getElementById('main');
  if (!ok || isSplit() || !main?.querySelector('.split')) return;
  const focused = pane().contains(document.activeElement) ? document.activeElement : null;
  const notice = document.querySelector('#main > .notice');
  if (notice) pane().prepend(notice);
  emptyPane = main.querySelector('#answer');
  const children = [...document.adoptNode(main).childNodes];
  emptyPane.replaceWith(pane());
  document.getElementById('main').replaceChildren(...children);
  globalThis.htmx?.process(document.getElementById('main'));
  focused?.focus({ preventScroll: true });
  announce(found().dataset.says);
  markRow();
}

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

/** Shows a response in the pane, or as a page of its own if that fails. */
async function open(address, { update = 'push', focus = false } = {}) {
  if (address === shown && focus) return pane().focus();
  try {
    const result = await load(address);
    if (pathOf(result.address) !== pathOf(address)) throw result;
    saveDraft();
    if (update === 'push') history.pushState(null, '', address);
    if (update === 'replace') history.replaceState(null, '', address);
    showPane(result.page, address);
    announce(pane().dataset.says);
    if (focus) pane().focus();
  } catch (reason) {
    if (reason?.name !== 'AbortError') location.assign(address);
  }
}

const pathOf = (address) => new URL(address, location.href).pathname;

/** Moves the response of a page into the pane, or the whole content of an error page. */
function showPane(page, address) {
  const next = page.getElementById('answer') ?? paneOf(page);
  if (page.getElementById('found')) emptyPane = next;
  const isSame = pathOf(address) === pathOf(shown);
  const top = isSame ? pane().scrollTop : 0;
  pane().replaceWith(document.adoptNode(next));
  next.scrollTop = top;
  shown = address;
  document.title = page.title;
  for (const text of texts()) {
    if (text.value === '') text.value = drafts.get(pathOf(text.form.action)) ?? '';
    if (text.value !== '') text.closest('details')?.setAttribute('open', '');
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
  const isShown = (row) => pane()?.dataset.list && pathOf(row.href) === pathOf(shown);
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
const isForPane = (address) =>
  pathOf(address).startsWith(`${pathOf(listAddress() ?? '/none')}/`) &&
  /^\/[\da-f-]{36}(\/delete)?$/.test(pathOf(address).slice(pathOf(listAddress()).length));

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('.split a[href]');
  const hasModifier = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
  if (!link || !wide.matches || hasModifier || event.defaultPrevented || !isForPane(link.href))
    return;
  event.preventDefault();
  const isByKey = event.detail === 0;
  open(pathOf(link.href) + link.search, { focus: isByKey || pane().contains(link) });
});

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  const isInPane = pane()?.contains(form);
  if (form.method !== 'post' || !isSplit() || !wide.matches) return;
  if (!isInPane && !found()?.contains(form)) return;
  event.preventDefault();
  (isInPane ? submitOne : submitMany)(form, submitter);
});

async function post(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  return await load(form.action, { method: 'POST', body });
}

/** Submits a form of the pane, then updates the pane and the list. */
async function submitOne(form, submitter) {
  const before = shown;
  const { page, address, ok } = await post(form, submitter).catch(() => ({}));
  if (!page) return warnUnreachable();
  if (ok || hasDraft(form)) saveDraft();
  if (hasDraft(form)) drafts.delete(pathOf(form.action));
  const notice = page.querySelector('#main > .notice');
  if (shown === before) {
    if (page.getElementById('found')) history.replaceState(null, '', address);
    showPane(page, page.getElementById('found') ? address : before);
    if (notice) pane().prepend(notice);
  }
  showCounts(page);
  if (ok) await refreshList(page);
  if (document.activeElement === document.body) restoreFocus(form, submitter);
  announce(notice?.textContent);
}

/** Submits the form of the list, then updates the list and the pane. */
async function submitMany(form, submitter) {
  const { page } = await post(form, submitter).catch(() => ({}));
  if (!page) return warnUnreachable();
  if (!page.getElementById('found')) return showPane(page, shown);
  const notice = page.querySelector('#main > .notice');
  document.querySelector('#main > .notice')?.remove();
  if (notice) document.querySelector('#main > .head').after(notice);
  showCounts(page);
  await refreshList(page);
  if (pane().dataset.list) await open(shown, { update: 'none' });
  announce(notice?.textContent);
}

function warnUnreachable() {
  const notice = document.createElement('p');
  notice.className = 'notice is-poor';
  notice.role = 'alert';
  notice.textContent = 'The service cannot be reached. Your change may not be saved. Try again.';
  pane().querySelector('.notice')?.remove();
  pane().prepend(notice);
  pane().scrollTop = 0;
}

/** Focuses the same button again, or the pane, or the next row of the list. */
function restoreFocus({ action }, submitter) {
  if (!pane().dataset.list) {
    const all = rows();
    return all[Math.min(shownIndex, all.length - 1)]?.focus();
  }
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
  const address = listAddress();
  if (!address) return;
  const options = { target: '#found', select: '#found', swap: 'outerMorph' };
  if (text) await htmx.swap({ ...options, text, sourceElement: document.body });
  else await htmx.ajax('GET', address, options);
  markRow();
}

// After a filter changed the list, the response stays open at an address with the new filters.
document.addEventListener('htmx:after:swap', ({ detail }) => {
  const isFilter = detail.ctx.sourceElement?.matches?.('form.toolbar');
  if (!isFilter || !isSplit()) return;
  markRow();
  if (!pane().dataset.list) shown = currentAddress();
  else if (wide.matches)
    open(pathOf(shown) + new URL(listAddress(), location.href).search, { update: 'replace' });
});

const steps = { ArrowDown: 1, j: 1, ArrowRight: 1, ArrowUp: -1, k: -1, ArrowLeft: -1 };
const keyUsers = 'input:not([type=checkbox]), select, textarea, summary, [contenteditable]';

// All steps work while the list has the focus, left and right also in the pane. Capture: before the handler in app.js.
document.addEventListener(
  'keydown',
  (event) => {
    const { key, target } = event;
    const hasModifier = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
    if (hasModifier || !isSplit() || !wide.matches) return;
    if (key === 'Escape' && pane().contains(target) && !target.matches('select')) return focusRow();
    const isInList = target.closest?.('.messages') !== null;
    const isSideways = key === 'ArrowLeft' || key === 'ArrowRight';
    if (!steps[key] || target.closest?.(keyUsers)) return;
    if (!isInList && !(isSideways && pane().dataset.list)) return;
    event.preventDefault();
    step(steps[key], isInList);
  },
  { capture: true },
);

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
  await open(pathOf(row.href) + new URL(row.href).search, { focus });
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
  const [to, list] = [currentAddress(), listAddress()];
  if (!isSplit() || to === shown) return;
  if (new URL(list ?? '', location.href).search !== location.search) return location.reload();
  if (isForPane(to)) {
    await open(to, { update: 'none' });
    // The browser has moved the focus to the body.
    if (document.activeElement === document.body) focusRow();
    return;
  }
  if (!emptyPane) return location.reload();
  saveDraft();
  pane().replaceWith(emptyPane);
  shown = to;
  markRow();
});
document.addEventListener('htmx:before:history:restore', (event) => {
  if (isSplit()) event.preventDefault();
});

emptyPane = isSplit() ? pane() : undefined;
wide.addEventListener('change', addList);
await addList();
