/**
 * A minimal model of webhooks without time, processes and database. A delivery is in flight until the subscriber
 * answers.
 */
export type Model = {
  exists: boolean;
  active: boolean;
  failures: number;
  switchedOff: number;
  retries: 'standard' | 'extended';
  /** Nothing was delivered for three days. */
  quiet: boolean;
  rotated: boolean;
  deliveries: Delivery[];
};

type Delivery = {
  message: number;
  status: 'pending' | 'delivered' | 'failed' | 'skipped';
  attempts: number;
  due: boolean;
  isReplay: boolean;
  /** Number of signatures while in flight, otherwise 0. */
  inFlight: 0 | 1 | 2;
};

export type Operation =
  | { do: 'emit'; message: number }
  | { do: 'answer'; message: number; good: boolean }
  | {
      do:
        | 'retries due'
        | 'three days pass'
        | 'deactivate'
        | 'reactivate'
        | 'replay'
        | 'rotate'
        | 'delete'
        | 'wake';
    };

const attemptsAllowed = { standard: 2, extended: 8 };
const failuresAllowed = 3;

export const newModel = (retries: Model['retries']): Model => ({
  exists: true,
  active: true,
  failures: 0,
  switchedOff: 0,
  rotated: false,
  retries,
  quiet: false,
  deliveries: [],
});

export const inFlight = (model: Model) => model.deliveries.filter((each) => each.inFlight > 0);

export function after(before: Model, operation: Operation): Model {
  const model = structuredClone(before);
  if (operation.do === 'answer') answered(model, operation);
  else if (model.exists) change(model, operation);
  return model;
}

function change(model: Model, operation: Exclude<Operation, { do: 'answer' }>) {
  switch (operation.do) {
    case 'emit':
      return add(model, operation.message, model.active ? 'pending' : 'skipped');
    case 'wake':
      return wake(model);
    case 'retries due':
      return model.deliveries.forEach((each) => {
        each.due ||= each.status === 'pending';
      });
    case 'three days pass':
      model.quiet = true;
      return;
    case 'replay':
      return replay(model);
    case 'rotate':
      model.rotated = true;
      return;
    case 'delete':
      model.exists = false;
      return;
    default:
      return switchTo(model, operation.do === 'reactivate');
  }
}

/** Turning on an active webhook without failures changes nothing. */
function switchTo(model: Model, isOn: boolean) {
  if (isOn && (!model.active || model.failures > 0)) {
    Object.assign(model, { failures: 0, quiet: false });
  }
  model.active = isOn;
}

function add(model: Model, message: number, status: Delivery['status'], isReplay = false) {
  model.deliveries.push({ message, status, attempts: 0, due: true, isReplay, inFlight: 0 });
}

/** Sends due deliveries. An inactive webhook skips all, and drops replays without an attempt. */
function wake(model: Model) {
  if (!model.active) {
    model.deliveries = model.deliveries.filter(
      ({ status, inFlight, isReplay, attempts }) =>
        status !== 'pending' || inFlight > 0 || !isReplay || attempts > 0,
    );
  }
  for (const each of model.deliveries) {
    if (each.status !== 'pending' || each.inFlight > 0) continue;
    if (!model.active) each.status = 'skipped';
    else if (each.due) each.inFlight = model.rotated ? 2 : 1;
  }
}

function replay(model: Model) {
  if (!model.active) return;
  const missed = model.deliveries.filter(({ message, status }, place) => {
    const later = model.deliveries.slice(place + 1).some((each) => each.message === message);
    return (status === 'skipped' || status === 'failed') && !later;
  });
  for (const { message } of missed) add(model, message, 'pending', true);
}

function answered(model: Model, { message, good }: { message: number; good: boolean }) {
  const delivery = inFlight(model).find((each) => each.message === message);
  if (!delivery) return;
  delivery.inFlight = 0;
  delivery.due = false;
  delivery.attempts += 1;
  if (good) {
    delivery.status = 'delivered';
    model.failures = 0;
    model.quiet = false;
  } else if (delivery.attempts === attemptsAllowed[model.retries]) {
    delivery.status = 'failed';
    model.failures += 1;
  }
  const isTime = model.retries === 'standard' || model.quiet;
  if (model.active && model.failures >= failuresAllowed && isTime) {
    model.active = false;
    model.switchedOff += 1;
  }
}
