/** Whether a statement failed on the constraint or unique index of this name. */
export const violates = (error: unknown, constraint: string): boolean =>
  (error as { constraint_name?: unknown } | null)?.constraint_name === constraint;
