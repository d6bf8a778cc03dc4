import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Refusal } from '../../errors.ts';
import { type Account, chooseAccount, chownTo, firstInaccessibleParent } from './account.ts';
import { asSentence } from './failure.ts';

/** Holds the data when the account cannot enter the folder that was asked for. */
const reachableHome = (program: string) => `/var/lib/${program}`;

/** initdb calls the server through a shell, its path in double quotes. */
const unquotable = /["$`\\\n\r]/;

/** Account, role, database and folders outside are named after the program. */
export type DataFolder = { path: string; account: Account; program: string };

/**
 * Makes the data folder private and gives it to the account of the server. Root may ask for a folder that no
 * other account can enter (in root's home): then a link there leads to a folder under /var/lib.
 */
export function prepareFolder(asked: string, program: string): DataFolder {
  const wanted = resolve(asked);
  refuseUnquotable(wanted);
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
    throw asSentence(error, `the data folder ${wanted}`);
  }
}

export function refuseUnquotable(wanted: string) {
  if (!unquotable.test(wanted)) return;
  throw new Refusal(
    'unavailable',
    `the data folder ${wanted} has a character in its path that Postgres cannot pass to a shell: use another folder`,
  );
}

function makeFolder(wanted: string, { account, program }: Omit<DataFolder, 'path'>) {
  const present = lstatSync(wanted, { throwIfNoEntry: false });
  if (present && !isEmptyFolderOfRoot(wanted, account)) return;

  const parent = dirname(wanted);
  makeFolders(parent);
  if (account.isOther && firstInaccessibleParent(parent, account) !== undefined && !present) {
    symlinkSync(makeReachable(account, reachableHome(program)), wanted);
    return;
  }
  if (!present) mkdirSync(wanted, { mode: 0o700 });
  chownTo(wanted, account);
}

/** One by one: where a file system refuses with ENOENT, as /proc does, a recursive `mkdir` never ends. */
function makeFolders(path: string) {
  if (statSync(path, { throwIfNoEntry: false })) return;
  makeFolders(dirname(path));
  mkdirSync(path);
}

/** A freshly mounted volume looks like this, and may be given to the account. */
function isEmptyFolderOfRoot(path: string, account: Account): boolean {
  if (!account.isOther) return false;
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === 0 && readdirSync(path).length === 0;
}

function makeReachable(account: Account, home: string): string {
  mkdirSync(home, { recursive: true, mode: 0o755 });
  const path = mkdtempSync(`${home}/data-`);
  chownTo(path, account);
  return path;
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
  const closed = account.isOther ? firstInaccessibleParent(dirname(path), account) : undefined;
  if (closed !== undefined) {
    throw new Refusal(
      'unavailable',
      `the account ${account.name}, which this program runs as, cannot enter ${closed} on the way to the data folder: open it with chmod o+x or use another folder`,
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
