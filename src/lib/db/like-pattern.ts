/** Text to be found anywhere, as a pattern of `like` and `ilike`: its own %, _ and \ stand for themselves. */
export const likePattern = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
