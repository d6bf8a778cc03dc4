/** The look of the documentation page; it follows the browser's colour scheme. */
export const style = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#1c2330, #e4e8ef);
  --soft: light-dark(#566074, #a2adbf);
  --paper: light-dark(#ffffff, #12161d);
  --side: light-dark(#f5f7fa, #171c25);
  --line: light-dark(#dfe4ec, #2a3240);
  --block: light-dark(#f2f4f8, #1b212c);
  --link: light-dark(#1d55c4, #83aefc);
  --get: light-dark(#0a6a4a, #62d2a5);
  --post: light-dark(#1d55c4, #83aefc);
  --put: light-dark(#8a5300, #efb45c);
  --delete: light-dark(#b3261e, #ff938b);
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body {
  margin: 0; display: grid; grid-template-columns: 18rem minmax(0, 1fr);
  color: var(--ink); background: var(--paper);
  font: 16px/1.55 system-ui, sans-serif;
}
nav {
  position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1.25rem 3rem;
  background: var(--side); border-right: 1px solid var(--line); font-size: .875rem;
}
nav h2, .contents h2 { margin: 1.5rem 0 .35rem; font-size: .75rem; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); }
nav ul, .contents ul { list-style: none; margin: 0; padding: 0; }
nav li a, .contents li a { display: block; padding: .2rem .4rem; margin: 0 -.4rem; border-radius: .3rem; color: inherit; text-decoration: none; overflow-wrap: anywhere; }
nav li a:hover, .contents li a:hover { background: var(--line); }
nav .home, .contents .home { font-weight: 700; font-size: 1.1rem; color: inherit; text-decoration: none; }
nav .method, .contents .method { font-size: .65rem; }
main { padding: 2rem clamp(1rem, 4vw, 4rem) 6rem; max-width: 62rem; }
.contents { display: none; margin-bottom: 1.5rem; padding: .6rem 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--side); }
.contents summary { font-weight: 600; cursor: pointer; }
h1 { margin: 0 0 1rem; font-size: 2rem; line-height: 1.2; }
main > section > h2 { margin: 4rem 0 .5rem; padding-bottom: .4rem; border-bottom: 2px solid var(--line); font-size: 1.5rem; }
h3, main > h2 { margin: 2rem 0 .3rem; font-size: 1.1rem; }
h4 { margin: 1.4rem 0 .4rem; font-size: .9rem; }
p { margin: .4rem 0 .8rem; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: .2rem; }
.plain { font-weight: 400; color: var(--soft); }
.operation { margin: 1.5rem 0 0; padding: 1px 0 1.5rem; border-bottom: 1px solid var(--line); }
.operation > h3 { display: flex; gap: .6rem; align-items: baseline; flex-wrap: wrap; }
.summary { font-size: 1.05rem; }
.path { overflow-wrap: anywhere; font-weight: 600; }
.self { margin-left: auto; text-decoration: none; color: var(--soft); }
.method { font: 700 .75rem/1 ui-monospace, monospace; }
.get { color: var(--get); } .post { color: var(--post); } .put, .patch { color: var(--put); } .delete { color: var(--delete); }
.badge { margin-left: .6rem; padding: .1rem .5rem; border: 1px solid currentColor; border-radius: 1rem; font-size: .75rem; color: var(--put); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .875em; }
p code, dd code { padding: .1em .3em; border-radius: .25rem; background: var(--block); }
pre { margin: .4rem 0; padding: .9rem 1rem; overflow-x: auto; max-height: 28rem; border-radius: .5rem; background: var(--block); font-size: .8125rem; line-height: 1.5; }
pre code { font-size: 1em; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .875rem; }
th, td { padding: .4rem .75rem .4rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400; }
.kind { color: var(--soft); }
.must { color: var(--delete); font-size: .75rem; white-space: nowrap; }
dl { margin: .3rem 0; font-size: .875rem; }
dl > div { display: grid; grid-template-columns: 3.5rem 1fr; padding: .2rem 0; }
dl.headers > div { grid-template-columns: 15rem 1fr; }
dt { font-weight: 600; } dd { margin: 0; color: var(--soft); }
@media (max-width: 52rem) {
  body { display: block; }
  nav { display: none; }
  .contents { display: block; }
  dl.headers > div { grid-template-columns: 1fr; }
}
@media print { nav, .contents { display: none; } body { display: block; } pre { max-height: none; } }
`;
