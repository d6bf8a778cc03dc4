// Responses where there is room: the list, and next to it the one that was chosen. Elsewhere each has a page of its own.

const room = matchMedia('(min-width: 68.75rem)');
const pane = () => document.getElementById('answer');
const found = () => document.getElementById('found');
const isSplit = () => pane()?.parentElement.matches('.split') ?? false;
const listAddress = () => found()?.querySelector('[data-list]')?.dataset.list;
const rows = () => [...document.querySelectorAll('.inbox .who a')];

/** The address of the response in the pane, of the list where there is none. */
let shown = here();
/** Where its row is, or was: the row that takes its place comes next. */
let place = -1;
let asking = new AbortController();
let nothingChosen;
/** Notes that were not saved yet, by the path of their form. */
const drafts = new Map();

function here() {
  return location.pathname + location.search;
}

/** A response that was opened by its own address gets its list next to it. */
async function addList() {
  const list = pane()?.dataset.list;
  if (!room.matches || isSplit() || !list) return;
  const { ok, page } = await ask(list).catch(() => ({ ok: false }));
  const main = page?.getElementById('main');
  if (!ok || isSplit() || !main?.querySelector('.split')) return;
  const focused = pane().contains(document.activeElement) ? document.activeElement : null;
  const notice = document.querySelector('#main > .notice');
  if (notice) pane().prepend(notice);
  nothingChosen = main.querySelector('#answer');
  const children = [...document.adoptNode(main).childNodes];
  nothingChosen.replaceWith(pane());
  document.getElementById('main').replaceChildren(...children);
  globalThis.htmx?.process(document.getElementById('main'));
  focused?.focus({ preventScroll: true });
  tellChange(found().dataset.says);
  markRow();
}

/** Asks for a page to show a part of. A newer wish ends an older one. */
async function ask(address, posted = {}) {
  const { method = 'GET' } = posted;
  asking.abort();
  asking = new AbortController();
  const signal = method === 'GET' ? asking.signal : undefined;
  const response = await fetch(address, { ...posted, signal, headers: { Accept: 'text/html' } });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const { pathname, search } = new URL(response.url);
  return { ok: response.ok, page, address: pathname + search };
}

/** Shows a response next to the list. What cannot be shown there has a page of its own. */
async function open(address, { note = 'push', focus = false } = {}) {
  if (address === shown && focus) return pane().focus();
  try {
    const answer = await ask(address);
    if (new URL(answer.address, location.href).pathname !== pathOf(address)) throw answer;
    keepDraft();
    if (note === 'push') history.pushState(null, '', address);
    if (note === 'replace') history.replaceState(null, '', address);
    showPane(answer.page, address);
    tellChange(pane().dataset.says);
    if (focus) pane().focus();
  } catch (reason) {
    if (reason?.name !== 'AbortError') location.assign(address);
  }
}

const pathOf = (address) => new URL(address, location.href).pathname;

/** Puts the part of a page into the pane; of a refusal, all that it says. */
function showPane(page, address) {
  const next = page.getElementById('answer') ?? paneOf(page);
  if (page.getElementById('found')) nothingChosen = next;
  const isSame = pathOf(address) === pathOf(shown);
  const top = isSame ? pane().scrollTop : 0;
  pane().replaceWith(document.adoptNode(next));
  next.scrollTop = top;
  shown = address;
  document.title = page.title;
  for (const form of noteForms()) {
    const text = form.elements.namedItem('text');
    if (text.value === '') text.value = drafts.get(pathOf(form.action)) ?? '';
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

const noteForms = () => pane().querySelectorAll('form[action*="/notes"]');

function keepDraft() {
  for (const form of noteForms())
    drafts.set(pathOf(form.action), form.elements.namedItem('text').value);
}

/** The row of the shown response is marked; what says so to a screen reader is the same attribute. */
function markRow() {
  const all = rows();
  const isShown = (row) => pane()?.dataset.list && pathOf(row.href) === pathOf(shown);
  for (const row of all) {
    if (isShown(row)) row.setAttribute('aria-current', 'true');
    else row.removeAttribute('aria-current');
  }
  const at = all.findIndex(isShown);
  if (at >= 0) place = at;
}

const tellChange = (says) =>
  document.dispatchEvent(new CustomEvent('askback:shown', { detail: { says } }));

/** What is opened next to the list: a response, and the question whether to delete it. */
const isForPane = (address) =>
  pathOf(address).startsWith(`${pathOf(listAddress() ?? '/none')}/`) &&
  /^\/[\da-f-]{36}(\/delete)?$/.test(pathOf(address).slice(pathOf(listAddress()).length));

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('.split a[href]');
  const isChorded = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
  if (!link || !room.matches || isChorded || event.defaultPrevented || !isForPane(link.href))
    return;
  event.preventDefault();
  const isByKey = event.detail === 0;
  open(pathOf(link.href) + link.search, { focus: isByKey || pane().contains(link) });
});

document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  const isInPane = pane()?.contains(form);
  if (form.method !== 'post' || !isSplit() || !room.matches) return;
  if (!isInPane && !found()?.contains(form)) return;
  event.preventDefault();
  (isInPane ? actOnOne : actOnMany)(form, submitter);
});

async function post(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  return await ask(form.action, { method: 'POST', body });
}

/** An act on the shown response: the pane and the list tell what became of it. */
async function actOnOne(form, submitter) {
  const before = shown;
  const { page, address, ok } = await post(form, submitter).catch(() => ({}));
  if (!page) return warnUnreached();
  if (ok || form.action.includes('/notes')) keepDraft();
  if (form.action.includes('/notes')) drafts.delete(pathOf(form.action));
  const notice = page.querySelector('#main > .notice');
  if (shown === before) {
    if (page.getElementById('found')) history.replaceState(null, '', address);
    showPane(page, page.getElementById('found') ? address : before);
    if (notice) pane().prepend(notice);
  }
  showCounts(page);
  if (ok) await refreshList(page);
  if (document.activeElement === document.body) focusAgain(form, submitter);
  tellChange(notice?.textContent);
}

/** An act on all that were ticked: the list is that of the answer, and the response next to it may have changed too. */
async function actOnMany(form, submitter) {
  const { page } = await post(form, submitter).catch(() => ({}));
  if (!page) return warnUnreached();
  if (!page.getElementById('found')) return showPane(page, shown);
  const notice = page.querySelector('#main > .notice');
  document.querySelector('#main > .notice')?.remove();
  if (notice) document.querySelector('#main > .head').after(notice);
  showCounts(page);
  await refreshList(page);
  if (pane().dataset.list) await open(shown, { note: 'none' });
  tellChange(notice?.textContent);
}

/** What was typed is still there, to be sent again. */
function warnUnreached() {
  const notice = document.createElement('p');
  notice.className = 'notice is-failed';
  notice.role = 'alert';
  notice.textContent = 'Nothing is known to be saved: the service cannot be reached. Try again.';
  pane().querySelector('.notice')?.remove();
  pane().prepend(notice);
  pane().scrollTop = 0;
}

/** The focus stays on what was pressed, as long as it is there; else it goes to the pane, or to the next row of the list. */
function focusAgain({ action }, submitter) {
  if (!pane().dataset.list) {
    const all = rows();
    return all[Math.min(place, all.length - 1)]?.focus();
  }
  const again = [...pane().querySelectorAll('button')].find(
    ({ form, name, value }) =>
      form?.action === action && name === submitter?.name && value === submitter?.value,
  );
  (again ?? pane()).focus({ preventScroll: true });
}

/** What the navigation counts may have changed with an act. */
function showCounts(page) {
  const [now, next] = [document, page].map((each) => each.querySelector('.rail nav'));
  if (now && next) now.replaceWith(document.adoptNode(next));
}

/** The list as it is now: that of a page, or asked for. Ticks and focus stay with their rows. */
async function refreshList(page) {
  const text = page.getElementById('found')?.outerHTML;
  const address = listAddress();
  if (!address) return;
  const options = { target: '#found', select: '#found', swap: 'outerMorph' };
  if (text) await htmx.swap({ ...options, text, sourceElement: document.body });
  else await htmx.ajax('GET', address, options);
  markRow();
}

// Filters change the list while one types: the response next to it stays, at an address with the filters of now.
document.addEventListener('htmx:after:swap', ({ detail }) => {
  const isFilter = detail.ctx.sourceElement?.matches?.('form.filters');
  if (!isFilter || !isSplit()) return;
  markRow();
  if (!pane().dataset.list) shown = here();
  else if (room.matches)
    open(pathOf(shown) + new URL(listAddress(), location.href).search, { note: 'replace' });
});

const steps = { ArrowDown: 1, j: 1, ArrowRight: 1, ArrowUp: -1, k: -1, ArrowLeft: -1 };
const ownKeys = 'input:not([type=checkbox]), select, textarea, summary, [contenteditable]';

// Keys lead through the list while it has the focus; the arrows to the sides also from the response next to it.
document.addEventListener(
  'keydown',
  (event) => {
    const { key, target } = event;
    const isChorded = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
    if (isChorded || !isSplit() || !room.matches) return;
    if (key === 'Escape' && pane().contains(target) && !target.matches('select')) return toRow();
    const isInList = target.closest?.('.inbox') !== null;
    const isSideways = key === 'ArrowLeft' || key === 'ArrowRight';
    if (!steps[key] || target.closest?.(ownKeys)) return;
    if (!isInList && !(isSideways && pane().dataset.list)) return;
    event.preventDefault();
    step(steps[key], isInList);
  },
  { capture: true },
);

const toRow = () =>
  rows()
    .find((row) => row.matches('[aria-current]'))
    ?.focus();

async function step(by, isInList) {
  const all = rows();
  const focused = all.findIndex((row) => row.closest('li').contains(document.activeElement));
  const current = all.findIndex((row) => row.matches('[aria-current]'));
  const at = focused >= 0 ? focused : current;
  // A row that has left the list stands between the one before it and the one in its place.
  const next = at >= 0 ? at + by : place + (by > 0 ? 0 : -1);
  const row = all[next] ?? (await turnPage(by));
  if (!row) return;
  if (isInList) row.focus();
  else row.scrollIntoView({ block: 'nearest' });
  const focus = pane().contains(document.activeElement);
  await open(pathOf(row.href) + new URL(row.href).search, { focus });
}

/** Past the last row the next page of the list follows. */
async function turnPage(by) {
  const link = found().querySelector(`a[rel=${by > 0 ? 'next' : 'prev'}]`);
  if (!link) return undefined;
  const options = { target: '#found', select: '#found', swap: 'outerHTML' };
  await globalThis.htmx.ajax('GET', link.getAttribute('href'), options);
  return rows().at(by > 0 ? 0 : -1);
}

// Back and forth in the same list changes the pane alone.
addEventListener('popstate', async () => {
  const [to, list] = [here(), listAddress()];
  if (!isSplit() || to === shown) return;
  if (new URL(list ?? '', location.href).search !== location.search) return location.reload();
  if (isForPane(to)) {
    await open(to, { note: 'none' });
    // The browser takes the focus to the top; keys go on where they were.
    if (document.activeElement === document.body) toRow();
    return;
  }
  if (!nothingChosen) return location.reload();
  keepDraft();
  pane().replaceWith(nothingChosen);
  shown = to;
  markRow();
});
document.addEventListener('htmx:before:history:restore', (event) => {
  if (isSplit()) event.preventDefault();
});

nothingChosen = isSplit() ? pane() : undefined;
room.addEventListener('change', addList);
await addList();
