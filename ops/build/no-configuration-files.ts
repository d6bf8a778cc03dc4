/**
 * Stands in for `cosmiconfig` in the binary: graphile-worker asks it at import for configuration files from
 * the working directory upward, and it runs what it finds. The binary reads none.
 */
export const cosmiconfigSync = () => ({ search: () => null });
