import { id } from './scene/names.ts';
import type { Reader } from './scene/organizations.ts';
import { empty, full } from './scene/organizations.ts';

/** A page that is kept: asked for by each of some readers. */
export type KeptEntry = {
  /** Of its file, with the reader where several are listed. */
  name: string;
  path: string;
  /** `null` is a visitor who is not signed in. An owner, where none is named. */
  as?: readonly (Reader | null)[];
  /** Of the service that members come in to by single sign-on alone. */
  sso?: boolean;
};

/** A form that is posted: by an owner, unless it names another reader. */
export type KeptForm = {
  /** Of the file of the page that answers; without one it leads elsewhere. */
  name?: string;
  path: string;
  form: Record<string, string | string[]>;
  as?: Reader | null;
  /** Where it leads is what is kept. */
  follow?: boolean;
};

/** Below the organization that has everything. */
export const at = (path: string) => `/o/${full.slug}${path}`;
/** Below the one that has nothing. */
export const atEmpty = (path: string) => `/o/${empty.slug}${path}`;

export const survey = (name: string, path = '') => at(`/surveys/${id(`survey-${name}`)}${path}`);
export const response = (name: string, path = '') =>
  at(`/responses/${id(`response-${name}`)}${path}`);
