/** Thrown where a request can only go on at another address, such as one that asks for a password first. */
export class SeeOther extends Error {
  readonly location: string;

  constructor(location: string) {
    super(`see ${location}`);
    this.name = 'SeeOther';
    this.location = location;
  }
}
