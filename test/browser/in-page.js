// Runs inside the page that is checked; `check.ts` puts it there as text.

const pressable =
  'a[href], button, input:not([type=hidden]), select, textarea, summary, iframe, [tabindex="0"]';

/** How far the page scrolls sideways, and the elements that make it. */
function sideways() {
  const { scrollWidth, clientWidth } = document.documentElement;
  const wide = [...document.querySelectorAll('body *')].filter(
    (element) =>
      Math.max(element.getBoundingClientRect().right, element.scrollWidth) > clientWidth + 1 &&
      !element.closest('.scroll, pre, .hidden'),
  );
  const culprits = wide.slice(-3).map(({ outerHTML }) => outerHTML.slice(0, 160));
  return { overflow: scrollWidth - clientWidth, culprits };
}

/** Elements that Tab should reach; radio buttons of one name count once. */
function stops() {
  const groups = new Set();
  return [...document.querySelectorAll(pressable)].filter((element) => {
    if (element.disabled || element.tabIndex < 0) return false;
    if (!element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }))
      return false;
    if (element.type !== 'radio') return true;
    const group = `${[...document.forms].indexOf(element.form)} ${element.name}`;
    return !groups.has(group) && groups.add(group);
  });
}

/** Element that covers the focused one; null if the focus is visible. */
function coveredFocus() {
  const { activeElement: focused, body } = document;
  if (!focused || focused === body) return null;
  const { left, top, width, height } = focused.getBoundingClientRect();
  const seen = document.elementFromPoint(left + width / 2, top + height / 2);
  if (seen && focused.contains(seen)) return null;
  return seen ? seen.outerHTML.slice(0, 160) : `out of sight, ${top} px from the top`;
}

const reached = new Map();

function watchFocus() {
  // Tab begins at the top, also where a field has the focus already.
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
  document.addEventListener('focusin', ({ target }) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(target);
    reached.set(keyOf(target), outlineStyle !== 'none' && outlineWidth !== '0px');
  });
  // A page learns nothing of the focus inside a frame, but that it has lost it.
  addEventListener('blur', () => {
    const { activeElement } = document;
    if (activeElement?.localName === 'iframe') reached.set(activeElement, true);
  });
  // A field for a date has stops of its own inside: day, month, year, what opens its calendar.
  const dates = document.querySelectorAll('input[type^=date], input[type=time]').length;
  return stops().length + 5 * dates;
}

/** Stops that Tab has not reached, or that do not show that they have the focus. */
function missedStops() {
  return stops()
    .filter((element) => reached.get(keyOf(element)) !== true)
    .map(
      (element) =>
        `${reached.has(keyOf(element)) ? 'no outline' : 'missed'}: ${element.outerHTML.slice(0, 160)}`,
    );
}

const keyOf = (element) =>
  element.type === 'radio'
    ? `${[...document.forms].indexOf(element.form)} ${element.name}`
    : element;

globalThis.inPage = { sideways, coveredFocus, watchFocus, missedStops };
