import type { Context } from 'hono';

/** The author of an act, as it was called at that time. */
export type Actor = {
  kind: ActorKind;
  id: string | null;
  name: string;
  /** The request that carried the act, as its answer and the log name it. */
  requestId?: string | undefined;
  /** An audit event never has an address: of a person's mail neither. */
  address?: never;
};

export const actorKinds = ['member', 'key', 'command', 'job', 'visitor'] as const;
export type ActorKind = (typeof actorKinds)[number];

/**
 * Proof that an actor may change what belongs to an organization. Verbs that change something ask for it:
 * `requireWrite` makes one of a key, `requireRole` one of a member, `commandWriter` one of the command line.
 */
export type Writer = { readonly orgId: string; readonly actor: Actor; readonly mayWrite: true };

/** The operator at the command line may change everything. */
export const commandActor = (): Actor => ({ kind: 'command', id: null, name: 'command line' });

export const commandWriter = (orgId: string): Writer => ({
  orgId,
  actor: commandActor(),
  mayWrite: true,
});

/** What the service does by itself: the names of jobs and rules, and what screens call them. */
export const jobTitles = {
  campaigns: 'Campaigns',
  'every contact has answered': 'Every contact has answered',
  retention: 'Retention',
  'summaries.month': 'Monthly summaries',
  'webhooks.deliver': 'Deliveries',
} as const;

export type ActingJob = keyof typeof jobTitles;

export const isActingJob = (name: string): name is ActingJob => Object.hasOwn(jobTitles, name);

export const jobActor = (name: ActingJob): Actor => ({ kind: 'job', id: null, name });

export const jobWriter = (orgId: string, name: ActingJob): Writer => ({
  orgId,
  actor: jobActor(name),
  mayWrite: true,
});

/** Of a person who has not signed in: a link is all that is known of them. */
export const visitorActor = (requestId?: string): Actor => ({
  kind: 'visitor',
  id: null,
  name: 'visitor',
  requestId,
});

/** The actor of a request: set by `authenticate` for keys and by `signedIn` for members. */
export function actorOf(c: Context): Actor {
  const actor = c.get('actor') as Actor | undefined;
  if (!actor) throw new Error('this request has no actor: it must pass authenticate or signedIn');
  return actor;
}
