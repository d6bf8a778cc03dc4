/** Thrown where a request can only go on at another address, such as one that asks for a password first. */
export class SeeOther extends Error {
  readonly location: string;
  /** Whether a form that was posted is to be offered again instead of being lost. */
  readonly keepsForm: boolean;

  constructor(location: string, { keepsForm = false }: { keepsForm?: boolean } = {}) {
    super(`see ${location}`);
    this.name = 'SeeOther';
    this.location = location;
    this.keepsForm = keepsForm;
  }
}
