/**
 * Replaces `cosmiconfig` in the binary. graphile-worker would use it at import to search the working directory and its
 * parents for configuration files, and run them.
 */
export const cosmiconfigSync = () => ({ search: () => null });
