/** Drawings on a page. They say nothing that its words do not, so screen readers pass over them. */

const mouths = [
  'M9.5 24.5q6.5-9 13 0z',
  'M11 22.5q5-3.5 10 0',
  'M11 21.5h10',
  'M11 20q5 4 10 0',
  'M9.5 18.5q6.5 11.5 13 0z',
];

/** A face from very unhappy, 0, to very happy, 4. */
export const Face = ({ mood }: { mood: number }) => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <circle cx="16" cy="16" r="13.5" />
    <path d="M11.5 12.5v1.5M20.5 12.5v1.5" />
    <path d={mouths[mood]} class={mood % 4 === 0 ? 'full' : undefined} />
  </svg>
);

export const Star = () => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <path d="M16 3.5l3.9 8 8.8 1.2-6.4 6.1 1.6 8.7-7.9-4.2-7.9 4.2 1.6-8.7-6.4-6.1 8.8-1.2z" />
  </svg>
);

export const Thumb = ({ down = false }) => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <path
      d="M11 14l4.5-9.5a3 3 0 0 1 3 3.2V12h6a2.5 2.5 0 0 1 2.5 2.9l-1.4 9.6a2.5 2.5 0 0 1-2.5 2H11zM11 14v12.5H5.5V14z"
      transform={down ? 'rotate(180 16 16)' : undefined}
    />
  </svg>
);

export const Check = () => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <path d="M8 16.8l5.4 5.4L24 11" pathLength="1" />
  </svg>
);
