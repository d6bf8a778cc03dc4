const mostHosts = 16;
/** A target that this service can work with: libpq's `any` and `standby` may lead to a server that takes no writes. */
const writableTargets = ['read-write', 'primary'];

/** Splits an address at its hosts: `postgres://user:password@` `a:5432,b:5433` `/name?options`. */
const form = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)([/?#].*)?$/;

const onePerHost = 'must name each of several hosts as host or host:port, as in a:5432,b:5432';

/** Why an address cannot be used, in words that follow its name. */
export function complaintOfUrl(url: string): string | undefined {
  if (!form.test(url)) return 'must be an address that begins with postgres:// or postgresql://';
  const { hosts, urls, options, target } = parts(url);
  const several = hosts.length > 1;
  if (urls.some((each) => !URL.canParse(each)))
    return several ? onePerHost : 'must be an address such as postgres://user@host:5432/name';
  if (several && hosts.includes('')) return onePerHost;
  if (hosts.length > mostHosts) return `must name at most ${mostHosts} hosts`;
  const socket = options.get('host');
  if (socket !== null && (several || socket.includes(',')))
    return 'must name several hosts before the name of the database, and not in ?host=';
  if (target !== null && !writableTargets.includes(target))
    return `must have target_session_attrs=read-write, and not ${target || 'an empty one'}: only there can it be written`;
  return undefined;
}

/** One address for each host that an address names, without the choice between them. */
export function listUrls(url: string): string[] {
  return parts(url).urls;
}

/** Whether one of several servers, or none, may be the one that takes writes. */
export function mustChoose(url: string): boolean {
  const { hosts, target } = parts(url);
  return hosts.length > 1 || target !== null;
}

function parts(url: string) {
  const [, before = '', list = '', after = ''] = form.exec(url) ?? [];
  const hosts = list.split(',');
  const at = after.indexOf('?');
  const options = new URLSearchParams(at === -1 ? '' : after.slice(at));
  const target = options.get('target_session_attrs');
  options.delete('target_session_attrs');
  // An address that has no choice to take out stays as it is, letter by letter.
  const rest =
    target === null ? after : `${after.slice(0, at)}${options.size > 0 ? `?${options}` : ''}`;
  return { hosts, options, target, urls: hosts.map((host) => `${before}${host}${rest}`) };
}
