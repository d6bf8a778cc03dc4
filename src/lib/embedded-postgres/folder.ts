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
import { unavailable } from '../../errors.ts';
import { makeFolders } from '../cli/files.ts';
import { explainError } from '../db/await-database.ts';

/** Holds the data if the account cannot enter the requested folder. */
const reachableHome = (program: string) => `/var/lib/${program}`;

/** initdb runs the server through a shell, with its path in double quotes. */
const unquotable = /["$`\\\n\r]/;

export type DataFolder = { path: string; account: Account; program: string };

/**
 * Makes the data folder private and gives it to the account of the server. If no other account can enter the folder
 * (in root's home), it becomes a link to a folder under /var/lib.
 */
export function prepareFolder(requested: string, program: string): DataFolder {
  const folder = resolve(requested);
  if (unquotable.test(folder)) {
    throw unavailable(
      `the data folder ${folder} has a character in its path that Postgres cannot pass to a shell: use another folder`,
    );
  }
  try {
    const account = chooseAccount(folder, program);
    makeFolder(folder, { account, program });
    const path = realpathSync(folder);
    rejectForeign(path, account);
    claimFiles(path, account);
    chmodSync(path, 0o700);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return { path, account, program };
  } catch (error) {
    throw describeFolderError(error, `the data folder ${folder}`);
  }
}

function makeFolder(folder: string, { account, program }: Omit<DataFolder, 'path'>) {
  const present = lstatSync(folder, { throwIfNoEntry: false });
  if (present && !isEmptyFolderOfRoot(folder, account)) return;

  const parent = dirname(folder);
  makeFolders(parent);
  if (account.isOther && firstInaccessibleParent(parent, account) !== undefined && !present) {
    const home = reachableHome(program);
    mkdirSync(home, { recursive: true, mode: 0o755 });
    const path = mkdtempSync(`${home}/data-`);
    chownTo(path, account);
    symlinkSync(path, folder);
    return;
  }
  if (!present) mkdirSync(folder, { mode: 0o700 });
  chownTo(folder, account);
}

/** A freshly mounted volume looks like this. */
function isEmptyFolderOfRoot(path: string, account: Account): boolean {
  if (!account.isOther) return false;
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === 0 && readdirSync(path).length === 0;
}

function rejectForeign(path: string, account: Account) {
  const stat = statSync(path);
  if (!stat.isDirectory()) throw unavailable(`${path} is not a folder`);
  if (stat.uid !== account.uid) {
    throw unavailable(
      `${path} belongs to ${stat.uid === 0 ? 'root' : `the account ${stat.uid}`} and this program runs as ${account.name}: give it to ${account.name} or use another folder`,
    );
  }
}

/**
 * Gives files that a command of root wrote, such as the secret key, to the account of the service. Anything but plain
 * files with a single link may be a trap for root.
 */
function claimFiles(path: string, account: Account) {
  if (!account.isOther) return;
  for (const name of readdirSync(path)) {
    const file = join(path, name);
    const stat = lstatSync(file);
    if (stat.isFile() && stat.uid === 0 && stat.nlink === 1) chownTo(file, account);
  }
}

/** The kernel's limit for socket paths, without the terminating zero. */
const maxPath = process.platform === 'linux' ? 107 : 103;
const shortHome = '/tmp';
export const socketName = '.s.PGSQL.5432';

/**
 * Makes a private folder for the server's socket, because the server trusts every connection. If the path of the data
 * folder is too long or has special characters, the socket is under /tmp.
 */
export function makeSocketFolder(folder: DataFolder): string {
  const near = join(folder.path, 'run');
  const socket = Buffer.byteLength(join(near, socketName));
  const fits = socket <= maxPath && /^[\w./-]+$/.test(near);
  const path = fits
    ? near
    : join(shortHome, `${folder.program}-${hash('sha256', folder.path).slice(0, 16)}`);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // Under /tmp, another account could have created this folder first.
  const stat = lstatSync(path);
  const isOurs = stat.uid === folder.account.uid || stat.uid === process.getuid?.();
  if (!stat.isDirectory() || !isOurs) {
    const sentence = `${path} belongs to another account: remove it and start again`;
    throw unavailable(sentence);
  }
  chownTo(path, folder.account);
  chmodSync(path, 0o700);
  return path;
}

/** The account of the server. `isOther` means that this process is root and must hand over files. */
export type Account = { uid: number; gid: number; name: string; isOther: boolean };

const sharedName = 'nobody';

/**
 * Postgres refuses to run as root. Root uses, in this order: the owner of the data folder, the account named after the
 * program, the owner of the parent folder, the account `nobody`.
 */
function chooseAccount(dataDir: string, program: string): Account {
  if (process.getuid?.() !== 0) return ownAccount();
  const accounts = readAccounts();
  const owner = ownerOf(dataDir);
  if (owner !== undefined && owner !== 0) return accountOf(accounts, owner, dataDir);

  const named = (name: string) => accounts.find((account) => account.name === name);
  const neighbour = accounts.find(({ uid }) => uid !== 0 && uid === ownerOf(dirname(dataDir)));
  const chosen = named(program) ?? neighbour ?? named(sharedName);
  if (chosen) return { ...chosen, isOther: true };
  throw unavailable(
    `${program} will not run Postgres as root and found no other account: add one with \`useradd --system ${program}\``,
  );
}

export function accountWarning({ account, path, program }: DataFolder): string | undefined {
  if (!account.isOther || account.name !== sharedName) return undefined;
  return `warning: root starts ${program} as the account ${sharedName}, which other programs may use too: those can read the secret key and the database. Give it its own account: useradd --system ${program} && chown -R ${program}: ${path}`;
}

/** Switches from root to the account, for good. */
export function dropPrivileges(account: Account): Account {
  if (!account.isOther) return account;
  process.setgid!(account.gid);
  process.setgroups!([account.gid]);
  process.setuid!(account.uid);
  return { ...account, isOther: false };
}

/** Does not follow links. `fchown` does not work under Node's permission model. */
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
    throw unavailable(
      `the account ${process.getuid?.()} has no entry in /etc/passwd, which Postgres needs: start this program as an account that has one`,
    );
  }
}

function accountOf(accounts: Omit<Account, 'isOther'>[], uid: number, dataDir: string): Account {
  const account = accounts.find((each) => each.uid === uid);
  if (account) return { ...account, isOther: true };
  throw unavailable(
    `${dataDir} belongs to the account ${uid}, which has no entry in /etc/passwd: give the folder to an account that has one`,
  );
}

/** Reads the file, because Node cannot look up accounts by name or number. */
function readAccounts(): Omit<Account, 'isOther'>[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 7)
    .map(([name, , uid, gid]) => ({ name: name!, uid: Number(uid), gid: Number(gid) }));
}

const ownerOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.uid;

export function describeFolderError(error: unknown, subject: string): unknown {
  const { syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  const sentence = `${subject} cannot be used by the account of this program: ${explainError(error)}`;
  return unavailable(sentence, { code: 'data_folder' });
}
