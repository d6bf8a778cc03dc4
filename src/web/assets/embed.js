// Shows a survey on a website in a frame, in a corner or inline. It sets no cookie and sends only the properties of its
// script tag. Local storage records when the visitor was asked.

{
  const script = document.currentScript;
  const { survey, position = 'corner', properties = '', target } = script?.dataset ?? {};
  const delaySeconds = Number(script?.dataset.delay ?? 5);
  const everyDays = Number(script?.dataset.every ?? 30);
  const inCorner = position !== 'inline';
  const origin = script && new URL(script.src).origin;
  const storageKey = `askback ${survey}`;

  if (survey && !inCorner) show();
  else if (survey && !wasAskedRecently()) setTimeout(show, delaySeconds * 1000);

  function show() {
    const box = document.createElement(inCorner ? 'aside' : 'div');
    const frame = document.createElement('iframe');
    const url = new URL(`/e/${encodeURIComponent(survey)}`, origin);
    if (properties) url.searchParams.set('properties', properties);
    frame.src = url;
    frame.title = script.dataset.label ?? 'Survey';
    frame.referrerPolicy = 'no-referrer';
    // Properties, because the website's policy may block inline styles.
    Object.assign(frame.style, {
      display: 'block',
      width: '100%',
      height: '1px',
      border: '0',
      colorScheme: 'auto',
    });
    box.append(frame);
    if (inCorner) putIntoCorner(box);
    else (document.querySelector(target ?? null) ?? script).after(box);

    let isLoaded = false;
    frame.addEventListener('load', () => setTimeout(warn, 3000));
    const warn = () => {
      if (isLoaded) return;
      console.warn(
        `askback: the survey did not load. Add ${location.origin} to the websites of the survey.`,
      );
    };
    addEventListener('message', ({ source, origin: from, data }) => {
      if (source !== frame.contentWindow || from !== origin) return;
      const { askback: state, height } = data ?? {};
      isLoaded = true;
      if (state === 'closed') return box.remove();
      if (!state || !(height > 0)) return;
      frame.style.height = `${Math.min(height, 4000)}px`;
      if (!inCorner) return;
      if (box.style.visibility !== 'visible' || state === 'answered') recordVisit();
      box.style.visibility = 'visible';
    });
  }

  /** Adds the box to the page. It stays hidden until the frame reports its height. */
  function putIntoCorner(box) {
    const close = document.createElement('button');
    close.type = 'button';
    close.textContent = '\u00d7';
    close.ariaLabel = script.dataset.close ?? 'Close';
    box.ariaLabel = script.dataset.label ?? 'Survey';
    close.addEventListener('click', () => box.remove());
    Object.assign(close.style, {
      position: 'absolute',
      top: '8px',
      insetInlineEnd: '8px',
      width: '44px',
      height: '44px',
      border: '0',
      borderRadius: '50%',
      background: 'transparent',
      color: 'inherit',
      font: '24px/1 system-ui, sans-serif',
      cursor: 'pointer',
    });
    Object.assign(box.style, {
      position: 'fixed',
      bottom: '16px',
      insetInlineEnd: '16px',
      zIndex: '2147483000',
      boxSizing: 'border-box',
      width: 'min(380px, calc(100vw - 32px))',
      maxHeight: 'calc(100vh - 32px)',
      overflow: 'auto',
      borderRadius: '16px',
      background: 'Canvas',
      color: 'CanvasText',
      colorScheme: 'light dark',
      boxShadow: '0 8px 40px rgb(0 0 0 / .3)',
      visibility: 'hidden',
    });
    box.append(close);
    document.body.append(box);
  }

  function wasAskedRecently() {
    try {
      const at = Number(localStorage.getItem(storageKey));
      return at > 0 && Date.now() - at < everyDays * 86_400_000;
    } catch {
      return false;
    }
  }

  function recordVisit() {
    try {
      localStorage.setItem(storageKey, String(Date.now()));
    } catch {
      // The visitor is asked again if local storage is unavailable.
    }
  }
}
