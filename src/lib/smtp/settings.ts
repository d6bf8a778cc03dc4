/** How the connection is protected. `opportunistic` encrypts if the server can, and checks no name. */
type TlsMode = 'implicit' | 'required' | 'opportunistic' | 'none';

export type SmtpSettings = {
  host: string;
  port: number;
  tls: TlsMode;
  /** Whether the server's certificate must be valid for its name. */
  verify: boolean;
  auth: { user: string; pass: string } | null;
  /** What we call ourselves; null is the name of the machine. */
  helo: string | null;
  connections: number;
  messagesPerConnection: number;
  /** Null is as fast as the server takes them. */
  messagesPerSecond: number | null;
  /** Up to and including the greeting. */
  connectTimeoutMs: number;
  /** Between two replies of the server. */
  silenceTimeoutMs: number;
  /** For one message, or for opening one connection, however lively the server. */
  wholeTimeoutMs: number;
};

/**
 * `smtp://user:pass@host:port?tls=required&connections=20` with everything wrong with it at once, in
 * words that never hold the password.
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
    connections: number('connections', { fallback: 10, least: 1, most: 100 }),
    messagesPerConnection: number('messages', { fallback: 500, least: 1, most: 1_000_000 }),
    messagesPerSecond: number('rate', { fallback: 0, least: 0, most: 100_000 }) || null,
    connectTimeoutMs: 1000 * number('connect_timeout', { fallback: 10, least: 1, most: 300 }),
    silenceTimeoutMs: 1000 * number('silence_timeout', { fallback: 30, least: 1, most: 600 }),
    wholeTimeoutMs: 1000 * number('message_timeout', { fallback: 120, least: 1, most: 3600 }),
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
  const given = url.searchParams.get('tls');
  if (url.protocol === 'smtps:') {
    if (given !== null)
      complaints.push('takes no tls setting: smtps:// is encrypted from the start');
    return 'implicit';
  }
  // A password goes over an encrypted connection unless the operator says that it need not.
  if (given === null) return url.username === '' ? 'opportunistic' : 'required';
  if (given === 'required' || given === 'opportunistic' || given === 'none') return given;
  complaints.push('tls must be required, opportunistic or none');
  return 'required';
}

function verifies(url: URL, complaints: string[]): boolean {
  const given = url.searchParams.get('verify') ?? 'yes';
  if (given !== 'yes' && given !== 'no') complaints.push('verify must be yes or no');
  return given !== 'no';
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

type Range = { fallback: number; least: number; most: number };

function numberReader(url: URL, complaints: string[]) {
  return (name: string, { fallback, least, most }: Range): number => {
    const given = url.searchParams.get(name);
    if (given === null) return fallback;
    const value = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
    if (value >= least && value <= most) return value;
    complaints.push(`${name} must be a whole number from ${least} to ${most}`);
    return fallback;
  };
}
