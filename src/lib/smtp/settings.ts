/** `opportunistic` encrypts if the server supports encryption, and never verifies the certificate. */
type TlsMode = 'implicit' | 'required' | 'opportunistic' | 'none';

export type SmtpSettings = {
  host: string;
  port: number;
  tls: TlsMode;
  verify: boolean;
  auth: { user: string; pass: string } | null;
  /** The name for EHLO; null is the name of the machine. */
  helo: string | null;
  connections: number;
  messagesPerConnection: number;
  messagesPerSecond: number | null;
  /** Up to and including the greeting. */
  connectTimeoutMs: number;
  /** Between two replies of the server. */
  silenceTimeoutMs: number;
  /** For a whole message, or for opening a connection. */
  wholeTimeoutMs: number;
};

/**
 * Reads `smtp://user:pass@host:port?tls=required&connections=20` and lists all mistakes at once. The complaints never
 * contain the password.
 */
export function readSmtpUrl(text: string): { settings: SmtpSettings; complaints: string[] } {
  const url = new URL(text);
  const complaints: string[] = [];
  const number = numberReader(url, complaints);
  const settings: SmtpSettings = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? defaultPort(url) : Number(url.port),
    tls: tlsMode(url, complaints),
    verify: verifies(url, complaints),
    auth: url.username === '' ? null : credentials(url, complaints),
    helo: url.searchParams.get('name'),
    connections: number('connections', { fallback: 10, min: 1, max: 100 }),
    messagesPerConnection: number('messages', { fallback: 500, min: 1, max: 1_000_000 }),
    messagesPerSecond: number('rate', { fallback: 0, min: 0, max: 100_000 }) || null,
    connectTimeoutMs: 1000 * number('connect_timeout', { fallback: 10, min: 1, max: 300 }),
    silenceTimeoutMs: 1000 * number('silence_timeout', { fallback: 30, min: 1, max: 600 }),
    wholeTimeoutMs: 1000 * number('message_timeout', { fallback: 120, min: 1, max: 3600 }),
  };
  if (settings.host === '') complaints.push('has no host');
  for (const name of url.searchParams.keys()) {
    if (!knownParameters.has(name)) complaints.push(`has an unknown setting ${name}`);
  }
  return { settings, complaints };
}

const knownParameters = new Set([
  'tls',
  'verify',
  'name',
  'connections',
  'messages',
  'rate',
  'connect_timeout',
  'silence_timeout',
  'message_timeout',
]);

const defaultPort = (url: URL) => (url.protocol === 'smtps:' ? 465 : 587);

function tlsMode(url: URL, complaints: string[]): TlsMode {
  const tls = url.searchParams.get('tls');
  if (url.protocol === 'smtps:') {
    if (tls !== null) complaints.push('takes no tls setting: smtps:// is encrypted from the start');
    return 'implicit';
  }
  // A password is sent over an encrypted connection unless the operator says otherwise.
  if (tls === null) return url.username === '' ? 'opportunistic' : 'required';
  if (tls === 'required' || tls === 'opportunistic' || tls === 'none') return tls;
  complaints.push('tls must be required, opportunistic or none');
  return 'required';
}

function verifies(url: URL, complaints: string[]): boolean {
  const verify = url.searchParams.get('verify') ?? 'yes';
  if (verify !== 'yes' && verify !== 'no') complaints.push('verify must be yes or no');
  return verify !== 'no';
}

function credentials(url: URL, complaints: string[]) {
  try {
    const auth = { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) };
    if (auth.pass === '') complaints.push('has a user but no password');
    return auth;
  } catch {
    complaints.push('has a user or password that is not percent-encoded');
    return null;
  }
}

type Range = { fallback: number; min: number; max: number };

function numberReader(url: URL, complaints: string[]) {
  return (name: string, { fallback, min, max }: Range): number => {
    const text = url.searchParams.get(name);
    if (text === null) return fallback;
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    complaints.push(`${name} must be a whole number from ${min} to ${max}`);
    return fallback;
  };
}
