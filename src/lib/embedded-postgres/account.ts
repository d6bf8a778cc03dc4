import { lchownSync, readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { Refusal } from '../../errors.ts';

/** The account that the server runs as. `isOther` while this process is root: the files it makes must be handed over. */
export type Account = { uid: number; gid: number; name: string; isOther: boolean };

const sharedName = 'nobody';

/**
 * Postgres refuses to run as root. A process that root started uses, in this order: the owner of the data
 * folder, the account named after the program, the owner of the folder around it, the account `nobody`.
 */
export function chooseAccount(dataDir: string, program: string): Account {
  if (process.getuid?.() !== 0) return ownAccount();
  const accounts = readAccounts();
  const owner = ownerOf(dataDir);
  if (owner !== undefined && owner !== 0) return known(accounts, owner, dataDir);

  const named = (name: string) => accounts.find((account) => account.name === name);
  const neighbour = accounts.find(({ uid }) => uid !== 0 && uid === ownerOf(dirname(dataDir)));
  const chosen = named(program) ?? neighbour ?? named(sharedName);
  if (chosen) return { ...chosen, isOther: true };
  throw new Refusal(
    'unavailable',
    `${program} will not run Postgres as root and found no other account: add one with \`useradd --system ${program}\``,
  );
}

/** What is wrong with the account that root would use, as a sentence, if anything is. */
export function accountWarning({
  account,
  path,
  program,
}: {
  account: Account;
  path: string;
  program: string;
}): string | undefined {
  if (!account.isOther || account.name !== sharedName) return undefined;
  return `warning: root starts ${program} as the account ${sharedName}, which other programs may use too: those can read the secret key and the database. Give it an account of its own: useradd --system ${program} && chown -R ${program}: ${path}`;
}

/** Root becomes the account, for as long as the process runs: serving needs nothing that only root may do. */
export function dropPrivileges(account: Account): Account {
  if (!account.isOther) return account;
  process.setgid!(account.gid);
  process.setgroups!([account.gid]);
  process.setuid!(account.uid);
  return { ...account, isOther: false };
}

/** Gives a file or folder of root to the account; a link is not followed. (`fchown` does not work under the permission model.) */
export function chownTo(path: string, account: Account) {
  if (account.isOther) lchownSync(path, account.uid, account.gid);
}

/** The options that start a child process as the account. */
export const spawnIdentity = ({ uid, gid, isOther }: Account) => (isOther ? { uid, gid } : {});

/** The nearest folder above a path that the account may not enter. */
export function firstInaccessibleParent(path: string, { uid, gid }: Account): string | undefined {
  for (let folder = path; ; folder = dirname(folder)) {
    const stat = statSync(folder, { throwIfNoEntry: false });
    if (stat && (stat.mode & searchBit(stat, { uid, gid })) === 0) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

function searchBit(stat: { uid: number; gid: number }, account: { uid: number; gid: number }) {
  if (stat.uid === account.uid) return 0o100;
  return stat.gid === account.gid ? 0o010 : 0o001;
}

function ownAccount(): Account {
  try {
    const { uid, gid, username } = userInfo();
    return { uid, gid, name: username, isOther: false };
  } catch {
    throw new Refusal(
      'unavailable',
      `the account ${process.getuid?.()} has no entry in /etc/passwd, which Postgres needs: start this program as an account that has one`,
    );
  }
}

function known(accounts: Omit<Account, 'isOther'>[], uid: number, dataDir: string): Account {
  const found = accounts.find((account) => account.uid === uid);
  if (found) return { ...found, isOther: true };
  throw new Refusal(
    'unavailable',
    `${dataDir} belongs to the account ${uid}, which has no entry in /etc/passwd: give the folder to an account that has one`,
  );
}

/** Read from the file because Node cannot ask the system for an account by name or number. */
function readAccounts(): Omit<Account, 'isOther'>[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 7)
    .map(([name, , uid, gid]) => ({ name: name!, uid: Number(uid), gid: Number(gid) }));
}

const ownerOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.uid;
