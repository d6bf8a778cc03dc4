import { oneLine } from '../../web/layout.tsx';

export const followUpStyle = oneLine(`
.ask.promoter, .ask.passive, .ask.detractor { display: none }
form:has(.is-promoter:checked) .ask:not(.promoter), form:has(.is-passive:checked) .ask:not(.passive), form:has(.is-detractor:checked) .ask:not(.detractor) { display: none }
form:has(.is-promoter:checked) .ask.promoter, form:has(.is-passive:checked) .ask.passive, form:has(.is-detractor:checked) .ask.detractor { display: inline }
`);

/** Frames show only the question at first. */
export const frameStyle = oneLine(`
form:not(:has([name=score]:checked)) :is(.comment, textarea, .send) { display: none }
`);

export const linkStyle = oneLine(`
.on { margin-top: 1.5rem }
.on a { display: inline-block; min-height: 3.25rem; padding: .75rem 1.75rem; border-radius: .875rem; background: var(--accent); color: var(--on-accent); font-weight: 650; text-decoration: none; overflow-wrap: anywhere }
`);

export const formStyle = oneLine(`
fieldset { min-width: 0; margin: 0; padding: 0; border: 0 }
legend { padding: 0; margin-bottom: 1.5rem }
.choices { display: grid; grid-auto-flow: column; grid-auto-columns: 1fr; gap: .25rem }
.choices.number { gap: .1875rem }
.choices.thumb { gap: .75rem }
.choices.many { display: flex; flex-wrap: wrap; gap: .25rem }
.many .choice { flex: 1 0 14% }
.many .choice:nth-child(n + 7) { flex-basis: 18% }
.choice { position: relative; display: block; min-width: 0 }
.choice input { position: absolute; inset: 0; width: 100%; height: 100%; margin: 0; opacity: 0; cursor: pointer; z-index: 1 }
.choice > span { display: grid; place-items: center; align-content: center; gap: .5rem; height: 100%; min-height: 3.25rem; border: 1.5px solid var(--line); border-radius: .75rem; font-size: 1.125rem; font-weight: 600; font-variant-numeric: tabular-nums }
.choice input:checked + span { border-color: var(--accent); background: var(--accent); color: var(--on-accent) }
.choice input:focus-visible + span { outline: 3px solid var(--accent); outline-offset: 2px }
.choice svg { width: 2.25rem; height: 2.25rem; fill: none; stroke: currentColor; stroke-width: 2.2; stroke-linecap: round; stroke-linejoin: round }
.choice svg .full { fill: currentColor }
.choice small { font-size: .8125rem; font-weight: 500; line-height: 1.25; text-align: center; padding: 0 .25rem }
.face .choice > span { min-height: 4rem }
.face small { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.thumb .choice > span { min-height: 6rem }
.thumb small { font-size: 1rem }
.star .choice > span { border-color: transparent; min-height: 3.75rem; color: var(--line) }
.star svg { width: 2.75rem; height: 2.75rem; stroke-width: 1.7 }
.star .choice input:checked + span, .star .choice:has(~ .choice input:checked) > span { background: none; border-color: transparent; color: var(--accent) }
.star .choice input:checked + span svg, .star .choice:has(~ .choice input:checked) svg { fill: currentColor }
.ends { display: flex; justify-content: space-between; gap: .75rem; margin-top: .625rem; font-size: .875rem; line-height: 1.35; color: var(--muted) }
.ends b { margin-inline-end: .375rem; color: var(--text) }
.ends span:last-child { text-align: end }
.comment { display: block; margin: 2rem 0 .625rem; font-weight: 600 }
.comment small { font-size: .875rem; font-weight: 400; color: var(--muted); white-space: nowrap }
textarea { display: block; width: 100%; min-height: 7rem; padding: .75rem 1rem; border: 1.5px solid var(--line); border-radius: .75rem; background: transparent; color: inherit; font: inherit; resize: vertical; field-sizing: content; max-height: 60vh }
textarea:focus-visible { outline-offset: 0; border-color: var(--accent) }
.send { display: flex; flex-direction: column-reverse; gap: .875rem; margin-top: 1.5rem }
.send p { font-size: .9375rem; text-wrap: balance; color: var(--muted) }
.complaint { margin-bottom: 1.5rem; padding: .875rem 1rem; border: 1.5px solid currentColor; border-inline-start-width: 6px; border-radius: .75rem; color: #b3161f; font-weight: 600 }
@media (prefers-color-scheme: dark) { .complaint { color: #ff9d9a } }
@media (min-width: 40rem) {
  .many .choice:nth-child(n) { flex: 1 0 0 }
  .ends b { display: none }
  .choices.number, .choices.face { gap: .625rem }
  .choices.star, .choices.many { gap: .375rem }
  .choices.star { grid-auto-columns: 4rem; margin-inline-start: -.5rem }
  .star svg { width: 3rem; height: 3rem }
  .face small { position: static; width: auto; height: auto; clip-path: none }
  .face .choice > span { min-height: 6.5rem }
  .ends.face { display: none }
  .send { flex-direction: row; align-items: center; gap: 1.25rem }
}
@media (hover: hover) {
  .choice input:not(:checked):hover + span { border-color: var(--accent); background: var(--soft) }
  .star .choice input:not(:checked):hover + span { background: none; border-color: transparent }
  .star .choice:hover > span, .star .choice:has(~ .choice:hover) > span { color: var(--accent) }
}
@media (forced-colors: active) {
  .choice input:checked + span { forced-color-adjust: none; border-color: Highlight; background: Highlight; color: HighlightText }
  .star .choice input:checked + span, .star .choice:has(~ .choice input:checked) > span { background: Canvas; color: Highlight }
}
`);

export const messageStyle = oneLine(`
.sign { display: grid; place-items: center; width: 4rem; height: 4rem; margin-bottom: 1.5rem; border-radius: 50%; background: var(--soft); color: var(--accent) }
.sign svg { width: 2.25rem; height: 2.25rem; fill: none; stroke: currentColor; stroke-width: 3; stroke-linecap: round; stroke-linejoin: round }
h1 + p { margin-top: .75rem; font-size: 1.0625rem; color: var(--muted); overflow-wrap: anywhere }
dl { margin: 2rem 0 0; padding: 1.25rem; border-radius: 1rem; background: var(--soft) }
dt { font-size: .875rem; color: var(--muted) }
dd { margin: .125rem 0 0; font-weight: 500; overflow-wrap: anywhere; white-space: pre-line }
dd + dt { margin-top: 1rem }
form { margin-top: 2rem }
@media (prefers-reduced-motion: no-preference) {
  .sign { animation: appear .3s ease-out }
  .sign path { stroke-dasharray: 1; animation: draw .5s .15s ease-out backwards }
  @keyframes appear { from { opacity: 0; transform: scale(.7) } }
  @keyframes draw { from { stroke-dashoffset: 1 } }
}
`);
