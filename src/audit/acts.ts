import type { Context } from 'hono';
import { json, type Part, type Sql } from '../lib/db/db.ts';

export type AuditedAct = {
  /** Null for an act on the deployment itself. */
  orgId: string | null;
  actor: Actor;
  act: Act;
  target?: { kind: string; id: string } | undefined;
  /** Context of the act. Never an address, a comment or a secret. */
  details?: Readonly<Record<string, AuditDetail>> | undefined;
};

type AuditValue = string | number | boolean | null | readonly string[];
export type AuditChange = { from: AuditValue; to: AuditValue };
export type AuditDetail = AuditValue | Readonly<Record<string, AuditChange>>;

/**
 * Records an act in the act's own transaction. `details.name` is the target's current name, with addresses masked. An
 * act that deletes its target must provide the name.
 */
export async function recordAct(tx: Sql, act: AuditedAct): Promise<void> {
  const { orgId, actor, target, details = {} } = act;
  const name = details['name'];
  const masked = typeof name === 'string' ? { ...details, name: maskAddresses(name) } : details;
  await tx`
    insert into audit_events (org_id, act, actor_kind, actor_id, actor, target, target_id, details, request_id)
    values (${orgId}, ${act.act}, ${actor.kind}, ${actor.id}, ${actor.name}, ${target?.kind ?? null},
            ${target?.id ?? null},
            jsonb_strip_nulls(jsonb_build_object('name', ${nameOfTarget(tx, act)})) || ${json(tx, masked)}::jsonb,
            ${actor.requestId ?? null})`;
}

function nameOfTarget(sql: Sql, { orgId, actor, target, details }: AuditedAct): Part {
  if (!target || target.id === actor.id || details?.['name']) return sql`null::text`;
  const { kind, id } = target;
  switch (kind) {
    case 'member':
      return sql`(select name from members where id = ${id})`;
    case 'survey':
      return sql`(select name from surveys where org_id = ${orgId} and id = ${id})`;
    case 'campaign':
      return sql`(select name from campaigns where org_id = ${orgId} and id = ${id})`;
    case 'webhook':
      return sql`(select substring(url from '//([^/?#]+)') from webhooks where org_id = ${orgId} and id = ${id})`;
    default:
      return sql`null::text`;
  }
}

/**
 * The changed fields with their old and new values. Texts are truncated and addresses masked.
 *
 *     changesOf(survey, { name: 'Spring' }) // { name: { from: 'Winter', to: 'Spring' } }
 */
export function changesOf(before: object, change: object): Record<string, AuditChange> {
  const entries = Object.entries(change).filter(([, value]) => value !== undefined);
  const previous = Object.fromEntries(entries.map(([name]) => [name, Reflect.get(before, name)]));
  const [from, to] = [flatten(previous), flatten(Object.fromEntries(entries))];
  const names = Object.keys({ ...from, ...to }).filter(
    (name) => JSON.stringify(from[name] ?? null) !== JSON.stringify(to[name] ?? null),
  );
  return Object.fromEntries(
    names.map((name) => [name, { from: shorten(from[name]), to: shorten(to[name]) }]),
  );
}

/** Flattens nested objects to paths such as `texts.de.subject`. */
function flatten(fields: object, path = ''): Record<string, unknown> {
  const entries = Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    const isPlain = Object.prototype.toString.call(value) === '[object Object]';
    return isPlain
      ? Object.entries(flatten(value, `${path}${name}.`))
      : [[`${path}${name}`, value]];
  });
  return Object.fromEntries(entries);
}

const maxValue = 200;

function shorten(value: unknown): AuditValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((item) => String(shorten(item)));
  const text = maskAddresses(String(value));
  return text.length > maxValue ? `${text.slice(0, maxValue).toWellFormed()}…` : text;
}

const addresses = /[^\s@<>,;]+@[^\s@<>,;]+/g;

export const maskAddresses = (text: string) => text.replace(addresses, maskAddress);

/** Recognizable to someone who knows the address, but not usable: `a…@example.com`. */
export const maskAddress = (address: string) =>
  `${[...address][0]}…${address.slice(address.lastIndexOf('@'))}`;

/** The author of an act, and the author's name at the time of the act. */
export type Actor = {
  kind: ActorKind;
  id: string | null;
  name: string;
  /** The request id in the response and the log. */
  requestId?: string | undefined;
  /** Audit events never contain addresses. */
  address?: never;
};

export const actorKinds = ['member', 'key', 'command', 'job', 'visitor'] as const;
export type ActorKind = (typeof actorKinds)[number];

/**
 * Proof that an actor may change an organization's data. `requireWrite` creates it for a key, `requireRole` for a
 * member, and `commandWriter` for the command line.
 */
export type Writer = { readonly orgId: string; readonly actor: Actor; readonly mayWrite: true };

export const commandActor = (): Actor => ({ kind: 'command', id: null, name: 'command line' });

export const commandWriter = (orgId: string): Writer => ({
  orgId,
  actor: commandActor(),
  mayWrite: true,
});

/** Names of the jobs that appear as actors. */
export const jobTitles = {
  campaigns: 'Campaigns',
  'every contact has responded': 'Every contact has responded',
  retention: 'Retention',
  'summaries.month': 'Monthly summaries',
  'webhooks.deliver': 'Deliveries',
} as const;

type ActingJob = keyof typeof jobTitles;

export const jobActor = (name: ActingJob): Actor => ({ kind: 'job', id: null, name });

export const jobWriter = (orgId: string, name: ActingJob): Writer => ({
  orgId,
  actor: jobActor(name),
  mayWrite: true,
});

/** A person who followed a link without signing in. */
export const visitorActor = (requestId?: string): Actor => ({
  kind: 'visitor',
  id: null,
  name: 'visitor',
  requestId,
});

export function actorOf(c: Context): Actor {
  const actor = c.get('actor') as Actor | undefined;
  if (!actor) throw new Error('this request has no actor: it must pass authenticate or signedIn');
  return actor;
}

/** Audited acts by their stored name. Each text follows the name of the actor: "Ann created an API key". */
export const acts = {
  'key.created': 'created an API key',
  'key.revoked': 'revoked an API key',
  'organization.created': 'created the organization',
  'organization.changed': 'changed the organization',
  'organization.deleted': 'deleted an organization',
  'logo.changed': 'changed the logo',
  'logo.removed': 'removed the logo',
  'member.invited': 'invited a member',
  'member.joined': 'joined',
  'member.role_changed': 'changed the role of a member',
  'member.removed': 'removed a member',
  'member.changed': 'changed an account',
  'member.email_changed': 'changed the email of an account',
  'member.password_changed': 'changed the password of an account',
  'member.reset': 'created a link to set a new password',
  'member.passkey_added': 'added a passkey',
  'member.passkey_removed': 'removed a passkey',
  'member.codes_on': 'turned on two-step verification',
  'member.codes_off': 'turned off two-step verification',
  'member.codes_renewed': 'created new recovery codes',
  'member.sso_linked': 'linked an account to single sign-on',
  'member.sso_unlinked': 'unlinked an account from single sign-on',
  'member.operator_made': 'added an operator',
  'member.operator_removed': 'removed an operator',
  'invitation.withdrawn': 'withdrew an invitation',
  'session.started': 'signed in',
  'session.ended': 'signed out',
  'notifications.changed': 'changed notifications',
  'survey.created': 'created a survey',
  'survey.changed': 'changed a survey',
  'survey.opened': 'opened a survey',
  'survey.closed': 'closed a survey',
  'survey.completed': 'completed a survey',
  'survey.reopened': 'reopened a survey',
  'survey.copied': 'copied a survey',
  'survey.deleted': 'deleted a survey',
  'survey.test_mailed': 'sent a test email',
  'contact.saved': 'added or changed a contact',
  'contacts.deleted': 'deleted the contacts of a list',
  'contact.deleted': 'deleted a contact',
  'contacts.imported': 'imported contacts',
  'contacts.exported': 'exported contacts',
  'send.requested': 'sent a survey',
  'campaign.created': 'created a campaign',
  'campaign.started': 'started a campaign',
  'campaign.paused': 'paused a campaign',
  'campaign.resumed': 'resumed a campaign',
  'campaign.stopped': 'stopped a campaign',
  'campaign.finished': 'finished a campaign',
  'campaign.refused': 'refused a campaign',
  'tag.created': 'created a tag',
  'tag.changed': 'changed a tag',
  'tag.deleted': 'deleted a tag',
  'canned_text.created': 'created a canned text',
  'canned_text.changed': 'changed a canned text',
  'canned_text.deleted': 'deleted a canned text',
  'response.changed': 'changed a response',
  'response.tagged': 'tagged a response',
  'response.noted': 'added a note',
  'response.replied': 'replied to a response',
  'response.released': 'released a response',
  'response.deleted': 'deleted a response',
  'responses.changed': 'changed responses',
  'responses.tagged': 'tagged responses',
  'responses.imported': 'imported responses',
  'responses.exported': 'exported responses',
  'summary.created': 'created a summary',
  'analysis.requested': 'requested a new analysis of comments',
  'theme.saved': 'added or changed a theme',
  'theme.deleted': 'deleted a theme',
  'suppression.added': 'blocked an address',
  'suppression.removed': 'unblocked an address',
  'consent.recorded': 'recorded new consent of an unsubscribed person',
  'bounce.recorded': 'reported a bounce',
  'webhook.created': 'created a webhook',
  'webhook.changed': 'changed a webhook',
  'webhook.deleted': 'deleted a webhook',
  'webhook.tested': 'sent a test event',
  'webhook.secret_rotated': 'rotated the secret of a webhook',
  'webhook.replayed': 'replayed deliveries',
  'webhook.switched_off': 'turned off a webhook',
  'delivery.redelivered': 'redelivered an event',
  'person.saved': 'added or changed a person',
  'people.imported': 'imported people',
  'people.exported': 'exported people',
  'person.erased': 'erased a person',
  'person.allowed': 'unblocked an erased address',
  'segment.created': 'created a segment',
  'segment.changed': 'changed a segment',
  'segment.deleted': 'deleted a segment',
  'reporter.created': 'created a reporter',
  'reporter.revoked': 'revoked a reporter',
  'retention.applied': 'deleted data that had passed its retention period',
  'demo.filled': 'filled the demo organization',
  'deployment.backed_up': 'backed up the deployment',
  'deployment.restored': 'restored a backup',
} as const satisfies Record<string, string>;

export type Act = keyof typeof acts;

/** Rows of earlier versions may contain acts that no longer exist. */
export const sentenceOf = (act: string): string => (acts as Record<string, string>)[act] ?? act;
