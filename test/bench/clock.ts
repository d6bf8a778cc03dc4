/** The time in milliseconds, finer than Date.now() and the same for all processes of a machine. */
export const now = () => performance.timeOrigin + performance.now();
