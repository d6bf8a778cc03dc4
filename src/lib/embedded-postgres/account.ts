import { lchownSync, readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { Refusal } from '../../errors.ts';

/** The account that the server runs as. `give` is set when files we make must be handed over to it. */
export type Account = { uid: number; gid: number; name: string; give: boolean };

const preferredNames = ['askback', 'nobody'];

/**
 * Postgres refuses to run as root. Started as root we use, in this order: the owner of the data folder, if it exists
 * already, an account named askback, the owner of the folder around it, the account `nobody`.
 */
export function chooseAccount(dataDir: string): Account {
  if (process.getuid?.() !== 0) return ownAccount();
  const accounts = readAccounts();
  const owner = ownerOf(dataDir);
  if (owner !== undefined && owner !== 0) return known(accounts, owner, dataDir);

  const named = (name: string) => accounts.find((account) => account.name === name);
  const neighbour = accounts.find(({ uid }) => uid !== 0 && uid === ownerOf(dirname(dataDir)));
  const chosen = named(preferredNames[0]!) ?? neighbour ?? named(preferredNames[1]!);
  if (chosen) return { ...chosen, give: true };
  throw new Refusal(
    'unavailable',
    'askback was started as root and found no account to become: add one with `useradd --system askback`',
  );
}

/** Root for good becomes the account for good: nothing that serves needs more. */
export function become(account: Account): Account {
  if (!account.give) return account;
  process.setgid!(account.gid);
  process.setgroups!([account.gid]);
  process.setuid!(account.uid);
  return { ...account, give: false };
}

/** Hands a file or folder of root's to the account; a link is never followed. (Descriptors cannot be: fchown is off under the permission model.) */
export function give(path: string, account: Account) {
  if (account.give) lchownSync(path, account.uid, account.gid);
}

/** How a child is started as the account: by root as another, by the account itself as it is. */
export const spawnAs = ({ uid, gid, give: other }: Account) => (other ? { uid, gid } : {});

/** The nearest folder on the way to a path that the account may not pass through. */
export function barrier(path: string, { uid, gid }: Account): string | undefined {
  for (let folder = path; ; folder = dirname(folder)) {
    const stat = statSync(folder, { throwIfNoEntry: false });
    if (stat && (stat.mode & searchBit(stat, { uid, gid })) === 0) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

function searchBit(stat: { uid: number; gid: number }, account: { uid: number; gid: number }) {
  if (account.uid === 0) return 0o111;
  if (stat.uid === account.uid) return 0o100;
  return stat.gid === account.gid ? 0o010 : 0o001;
}

function ownAccount(): Account {
  try {
    const { uid, gid, username } = userInfo();
    return { uid, gid, name: username, give: false };
  } catch {
    throw new Refusal(
      'unavailable',
      `the account ${process.getuid?.()} has no entry in /etc/passwd, which Postgres needs: start askback as an account that has one`,
    );
  }
}

function known(accounts: Omit<Account, 'give'>[], uid: number, dataDir: string): Account {
  const found = accounts.find((account) => account.uid === uid);
  if (found) return { ...found, give: true };
  throw new Refusal(
    'unavailable',
    `${dataDir} belongs to the account ${uid}, which has no entry in /etc/passwd: give the folder to an account that has one`,
  );
}

/** Read from the file because Node cannot ask the system for an account by name or number. */
function readAccounts(): Omit<Account, 'give'>[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 7)
    .map(([name, , uid, gid]) => ({ name: name!, uid: Number(uid), gid: Number(gid) }));
}

const ownerOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.uid;
