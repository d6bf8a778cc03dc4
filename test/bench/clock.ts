/** Milliseconds with more precision than Date.now(), comparable between processes of a machine. */
export const now = () => performance.timeOrigin + performance.now();
