import { counted } from '../web/app/lists.tsx';
import { firstRetrySeconds } from './rules.ts';

/** What the screens of webhooks say. */
export const webhookTexts = {
  title: 'Webhooks',
  create: 'New webhook',
  submit: 'Create webhook',
  save: 'Save',
  about: 'A webhook has events posted to an address of yours as they happen, signed.',
  none: 'No webhook yet',
  noneMeans:
    'Have answers posted to your own systems as they arrive. New webhook asks for an address and the events.',
  urlHelp: 'An https address that answers within 10 seconds with a status 2xx.',
  descriptionHelp: 'What receives them, such as “help desk”. May be left empty.',
  eventMeans: {
    'response.received': 'an answer was recorded',
    'detractor.detected': 'an answer with a detractor’s score was recorded',
    'survey.completed': 'a survey was completed',
    'summary.generated': 'an executive summary was written',
  },
  retries: {
    standard: {
      text: 'Standard',
      help: `A failed delivery is tried once more after ${firstRetrySeconds} seconds. Three that fail in a row switch the webhook off.`,
    },
    extended: {
      text: 'Extended',
      help: 'A failed delivery is tried seven more times over about 28 hours. The webhook is switched off when nothing was delivered for 3 days and three deliveries in a row failed.',
    },
  },
  switchedOffBy: {
    standard: 'three switch it off',
    extended: 'three switch it off once nothing was delivered for 3 days',
  },
  secretTitle: 'Copy the signing secret now',
  secretOnce:
    'It is shown only once. Receivers check with it that a delivery comes from here and was not changed.',
  secretRotated:
    'For 24 hours deliveries carry signatures of both secrets, so that you can change over.',
  test: 'Send test event',
  tested: (ms: number, status: number | null) =>
    `The test event was delivered in ${duration(ms)}. The address answered ${status}.`,
  testFailed: (why: string) => `The test event was not delivered: ${why}.`,
  rotate: 'Rotate secret',
  rotateTitle: 'Rotate the signing secret',
  rotateMeans:
    'A new secret is made and shown once. Deliveries carry signatures of both secrets for 24 hours; after that a receiver that still has the old one refuses every delivery.',
  switchOff: 'Switch off',
  switchOn: 'Switch on',
  switchedOff: 'The webhook is switched off. Its events are kept as skipped, and can be replayed.',
  switchedOn: 'The webhook is switched on.',
  remove: 'Delete',
  removeTitle: (host: string) => `Delete the webhook to ${host}`,
  removeMeans:
    'Nothing is delivered to this address any more. Its history of deliveries is deleted with it, and what was skipped or failed can no longer be replayed.',
  removed: 'The webhook is deleted.',
  changed: 'The webhook is changed.',
  made: 'The webhook is on.',
  replay: 'Replay',
  replayTitle: 'Replay missed events',
  replayHelp: 'Events that were skipped or failed since then are delivered again.',
  replayForetold: (count: number, since: string, active: boolean) => {
    if (count === 0) return `Nothing was skipped or failed since ${since}.`;
    const missed = `${counted(count, 'event was', 'events were')} skipped or failed since ${since}.`;
    return active ? `${missed} Replay delivers them again, oldest first.` : missed;
  },
  replayed: (count: number) => `${counted(count, 'event is', 'events are')} being delivered again.`,
  replayInactive:
    'The webhook is switched off. Switch it on first: then what it missed can be replayed.',
  backToWebhook: 'To the webhook',
  asSent: (bytes: number) => `The body as it is sent, ${counted(bytes, 'byte')}`,
  bodyAsSent: 'Body as it is sent',
  notSent: 'Nothing was sent yet.',
  redeliver: 'Redeliver',
  redelivered: 'The event is being delivered again, as a new delivery at the top of the list.',
} as const;

/** `184 ms`, `10.2 s`. */
export const duration = (ms: number): string =>
  ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
