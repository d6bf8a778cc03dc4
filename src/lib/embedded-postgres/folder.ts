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
import { type Account, barrier, chooseAccount, give } from './account.ts';
import { asSentence } from './failure.ts';

/** Where the data of a deployment goes when the account cannot reach the folder that was asked for. */
const reachableHome = '/var/lib/askback';

/** initdb calls the server through a shell, its path in double quotes. */
const unquotable = /["$`\\\n\r]/;

export type DataFolder = { path: string; account: Account };

/**
 * The data folder, there, private, and owned by the account of the server. Under root it may lie where no
 * other account can go (root's own home): then its place holds a link to a folder under /var/lib.
 */
export function prepareFolder(asked: string): DataFolder {
  const wanted = resolve(asked);
  if (unquotable.test(wanted)) {
    throw new Refusal(
      'unavailable',
      `the data folder ${wanted} has a character in its path that Postgres cannot pass to a shell: set ASKBACK_DATA_DIR to another folder`,
    );
  }
  try {
    const account = chooseAccount(wanted);
    makeFolder(wanted, account);
    const path = realpathSync(wanted);
    refuseForeign(path, account);
    claimFiles(path, account);
    chmodSync(path, 0o700);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return { path, account };
  } catch (error) {
    throw asSentence(error, `the data folder ${wanted}`);
  }
}

function makeFolder(wanted: string, account: Account) {
  const present = lstatSync(wanted, { throwIfNoEntry: false });
  if (present && !isEmptyFolderOfRoot(wanted, account)) return;

  const parent = dirname(wanted);
  makeFolders(parent);
  if (account.give && barrier(parent, account) !== undefined && !present) {
    symlinkSync(makeReachable(account), wanted);
    return;
  }
  if (!present) mkdirSync(wanted, { mode: 0o700 });
  give(wanted, account);
}

/** One by one: where a file system refuses with ENOENT, as /proc does, a recursive `mkdir` never ends. */
function makeFolders(path: string) {
  if (statSync(path, { throwIfNoEntry: false })) return;
  makeFolders(dirname(path));
  mkdirSync(path);
}

/** A volume that was mounted for us looks like this: it may be taken over. */
function isEmptyFolderOfRoot(path: string, account: Account): boolean {
  if (!account.give) return false;
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === 0 && readdirSync(path).length === 0;
}

function makeReachable(account: Account): string {
  mkdirSync(reachableHome, { recursive: true, mode: 0o755 });
  const path = mkdtempSync(`${reachableHome}/data-`);
  give(path, account);
  return path;
}

function refuseForeign(path: string, account: Account) {
  const stat = statSync(path);
  if (!stat.isDirectory()) throw new Refusal('unavailable', `${path} is not a folder`);
  if (stat.uid !== account.uid) {
    throw new Refusal(
      'unavailable',
      `${path} belongs to ${stat.uid === 0 ? 'root' : `the account ${stat.uid}`} and askback runs as ${account.name}: give it to ${account.name} or set ASKBACK_DATA_DIR to another folder`,
    );
  }
  const closed = account.give ? barrier(dirname(path), account) : undefined;
  if (closed !== undefined) {
    throw new Refusal(
      'unavailable',
      `the account ${account.name}, as which askback runs, cannot pass through ${closed} to the data folder: open it with chmod o+x or set ASKBACK_DATA_DIR to another folder`,
    );
  }
}

/**
 * What a command run by root wrote here (the secret, say) must be readable to the account of the service.
 * Only plain files of root's with this one name: anything else may be a trap laid for root.
 */
function claimFiles(path: string, account: Account) {
  if (!account.give) return;
  for (const name of readdirSync(path)) {
    const file = join(path, name);
    const stat = lstatSync(file);
    if (stat.isFile() && stat.uid === 0 && stat.nlink === 1) give(file, account);
  }
}
