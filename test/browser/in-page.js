// Runs inside the page under test. `check.ts` injects it as text.

const pressable =
  'a[href], button, input:not([type=hidden]), select, textarea, summary, iframe, [tabindex="0"]';

/** The width that scrolls sideways, and the elements that cause it. */
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

/** Elements that Tab must reach. Radio buttons with the same name count once. */
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
  // Makes Tab start at the top, even if a field has the focus.
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute('tabindex');
  document.addEventListener('focusin', ({ target }) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(target);
    reached.set(keyOf(target), outlineStyle !== 'none' && outlineWidth !== '0px');
  });
  // When the focus moves into a frame, the page only gets a blur event.
  addEventListener('blur', () => {
    const { activeElement } = document;
    if (activeElement?.localName === 'iframe') reached.set(activeElement, true);
  });
  // A date field has several stops: day, month, year and the calendar button.
  const dates = document.querySelectorAll('input[type^=date], input[type=time]').length;
  return stops().length + 5 * dates;
}

/** Stops that Tab did not reach or that do not show their focus. */
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
