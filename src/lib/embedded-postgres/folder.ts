import { hash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Refusal } from '../../errors.ts';
import { makeFolders } from '../cli/files.ts';
import { explainError } from '../db/await-database.ts';

/** Holds the data when the account cannot enter the folder that was asked for. */
const reachableHome = (program: string) => `/var/lib/${program}`;

/** initdb calls the server through a shell, its path in double quotes. */
const unquotable = /["$`\\\n\r]/;

export type DataFolder = { path: string; account: Account; program: string };

/**
 * Makes the data folder private and gives it to the account of the server. Root may ask for a folder that no
 * other account can enter (in root's home): then a link there leads to a folder under /var/lib.
 */
export function prepareFolder(asked: string, program: string): DataFolder {
  const wanted = resolve(asked);
  if (unquotable.test(wanted)) {
    throw new Refusal(
      'unavailable',
      `the data folder ${wanted} has a character in its path that Postgres cannot pass to a shell: use another folder`,
    );
  }
  try {
    const account = chooseAccount(wanted, program);
    makeFolder(wanted, { account, program });
    const path = realpathSync(wanted);
    refuseForeign(path, account);
    claimFiles(path, account);
    chmodSync(path, 0o700);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return { path, account, program };
  } catch (error) {
    throw describeFolderError(error, `the data folder ${wanted}`);
  }
}

function makeFolder(wanted: string, { account, program }: Omit<DataFolder, 'path'>) {
  const present = lstatSync(wanted, { throwIfNoEntry: false });
  if (present && !isEmptyFolderOfRoot(wanted, account)) return;

  const parent = dirname(wanted);
  makeFolders(parent);
  if (account.isOther && firstInaccessibleParent(parent, account) !== undefined && !present) {
    const home = reachableHome(program);
    mkdirSync(home, { recursive: true, mode: 0o755 });
    const path = mkdtempSync(`${home}/data-`);
    chownTo(path, account);
    symlinkSync(path, wanted);
    return;
  }
  if (!present) mkdirSync(wanted, { mode: 0o700 });
  chownTo(wanted, account);
}

/** A freshly mounted volume looks like this, and may be given to the account. */
function isEmptyFolderOfRoot(path: string, account: Account): boolean {
  if (!account.isOther) return false;
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === 0 && readdirSync(path).length === 0;
}

function refuseForeign(path: string, account: Account) {
  const stat = statSync(path);
  if (!stat.isDirectory()) throw new Refusal('unavailable', `${path} is not a folder`);
  if (stat.uid !== account.uid) {
    throw new Refusal(
      'unavailable',
      `${path} belongs to ${stat.uid === 0 ? 'root' : `the account ${stat.uid}`} and this program runs as ${account.name}: give it to ${account.name} or use another folder`,
    );
  }
}

/**
 * Files that a command of root wrote here, such as the secret key, must be readable by the account of the
 * service. Only plain files of root with one name: anything else may be a trap for root.
 */
function claimFiles(path: string, account: Account) {
  if (!account.isOther) return;
  for (const name of readdirSync(path)) {
    const file = join(path, name);
    const stat = lstatSync(file);
    if (stat.isFile() && stat.uid === 0 && stat.nlink === 1) chownTo(file, account);
  }
}

/** The kernel keeps a socket's path in a field of 108 bytes on Linux and 104 on macOS, its end included. */
const maxPath = process.platform === 'linux' ? 107 : 103;
const shortHome = '/tmp';
export const socketName = '.s.PGSQL.5432';

/**
 * The folder of the server's socket, closed to other accounts: the server trusts every connection. A data
 * folder whose path is long, or cannot stand in a settings file or an address, has its socket under /tmp.
 */
export function makeSocketFolder(folder: DataFolder): string {
  const near = join(folder.path, 'run');
  const socket = Buffer.byteLength(join(near, socketName));
  const fits = socket <= maxPath && /^[\w./-]+$/.test(near);
  const path = fits
    ? near
    : join(shortHome, `${folder.program}-${hash('sha256', folder.path).slice(0, 16)}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // Under /tmp any account could have made a folder of that name before.
  const stat = lstatSync(path);
  const isOurs = stat.uid === folder.account.uid || stat.uid === process.getuid?.();
  if (!stat.isDirectory() || !isOurs) {
    const sentence = `${path} belongs to another account: remove it and start again`;
    throw new Refusal('unavailable', sentence);
  }
  chownTo(path, folder.account);
  chmodSync(path, 0o700);
  return path;
}

/** The account that the server runs as. `isOther` while this process is root: the files it makes must be handed over. */
export type Account = { uid: number; gid: number; name: string; isOther: boolean };

const sharedName = 'nobody';

/**
 * Postgres refuses to run as root. A process that root started uses, in this order: the owner of the data
 * folder, the account named after the program, the owner of the folder around it, the account `nobody`.
 */
function chooseAccount(dataDir: string, program: string): Account {
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

export function accountWarning({ account, path, program }: DataFolder): string | undefined {
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

export const spawnIdentity = ({ uid, gid, isOther }: Account) => (isOther ? { uid, gid } : {});

export function firstInaccessibleParent(path: string, { uid, gid }: Account): string | undefined {
  for (let folder = path; ; folder = dirname(folder)) {
    const stat = statSync(folder, { throwIfNoEntry: false });
    const searchBit = stat?.uid === uid ? 0o100 : stat?.gid === gid ? 0o010 : 0o001;
    if (stat && (stat.mode & searchBit) === 0) return folder;
    if (folder === dirname(folder)) return undefined;
  }
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

/** Turns a failure of the system into one sentence about its subject; other errors stay as they are. */
export function describeFolderError(error: unknown, subject: string): unknown {
  const { syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  const sentence = `${subject} cannot be used by the account this program runs as: ${explainError(error)}`;
  return new Refusal('unavailable', sentence, { code: 'data_folder' });
}
