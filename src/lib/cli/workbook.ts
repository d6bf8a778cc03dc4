import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
// @ts-expect-error: saxen has no types
import { Parser } from 'saxen';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';

/** The text of a sheet as CSV, in pieces. A line of the text is a row of the sheet. */
export type Sheet = { name: string; pieces: string[] };

const mebibyte = 1024 * 1024;
const maxEntries = 2000;
/** Limit of all unpacked parts together. A list of 100,000 rows with ten columns takes about 60 MiB. */
const maxBytes = 256 * mebibyte;
const maxSharedBytes = 64 * mebibyte;
const maxPartBytes = 16 * mebibyte;
const maxTextLength = 64 * mebibyte;
const maxSheets = 100;
const maxRows = 1_048_576;
const maxColumns = 16_384;
/** As in Excel. Also limits the time that a regular expression may take. */
const maxCellLength = 32_767;
/** `&#x4e00;` and `_x000D_` are one character each. */
const maxEscapedLength = 8 * maxCellLength;
const maxFormatLength = 255;
const pieceLength = 256 * 1024;

/** True for zip files, the format of Excel workbooks (.xlsx). */
export const isZip = (bytes: Uint8Array) =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4;

/**
 * Reads the visible sheets that are not empty. Numbers stay as they are stored. Dates become `2026-11-30` or
 * `2026-11-30 09:00:00`. Unpacks and parses in small parts, so that other work continues. Checks sizes before and
 * during unpacking.
 */
export async function readWorkbook(bytes: Uint8Array): Promise<Sheet[]> {
  const zip = await fromBufferPromise(Buffer.from(bytes), { lazyEntries: true }).catch(() => {
    throw new Error('it is not an Excel workbook (.xlsx)');
  });
  const parts = await listParts(zip);
  const workbook = await readSheetNames(zip, parts);
  const paths = [stylesPath, stringsPath, ...workbook.sheets.map(({ path }) => path)];
  const sizes = paths.map((path) => parts.get(path)?.uncompressedSize ?? 0);
  if (sizes.reduce((sum, size) => sum + size) > maxBytes) throw new Error(tooLarge);
  const styles = await readDateStyles(zip, parts);
  const strings = await readSharedStrings(zip, parts);
  const sheets: Sheet[] = [];
  let maxLength = maxTextLength;
  for (const { name, path } of workbook.sheets) {
    const reader = sheetReader({ strings, styles, is1904: workbook.is1904 }, maxLength);
    await parsePart(zip, parts.get(path), reader.handlers, maxBytes);
    const pieces = reader.end();
    if (pieces.length > 0) sheets.push({ name, pieces });
    maxLength -= pieces.reduce((sum, { length }) => sum + length, 0);
  }
  if (sheets.length === 0) throw new Error('it has no visible sheet with rows');
  return sheets;
}

const tooLarge = 'it is too large when unpacked';
const stylesPath = 'xl/styles.xml';
const stringsPath = 'xl/sharedStrings.xml';

type Parts = ReadonlyMap<string, Entry>;

async function listParts(zip: ZipFile): Promise<Parts> {
  if (zip.entryCount > maxEntries) throw new Error('it has too many parts');
  const parts = new Map<string, Entry>();
  for await (const entry of zip.eachEntry()) {
    if (entry.isEncrypted()) throw new Error('it is password-protected');
    parts.set(entry.fileName, entry);
  }
  if (!parts.has('xl/workbook.xml')) throw new Error('it is not an Excel workbook (.xlsx)');
  return parts;
}

type Attributes = Readonly<Record<string, string>>;
type Handlers = {
  open?: (name: string, attributes: () => Attributes) => void;
  text?: (text: string) => void;
  close?: (name: string) => void;
};

type XmlParser = {
  on(event: 'error', handle: (error: Error) => void): void;
  on(
    event: 'openTag',
    handle: (name: string, attributes: () => Attributes, decode: Decode) => void,
  ): void;
  on(event: 'text', handle: (text: string, decode: Decode) => void): void;
  on(event: 'closeTag', handle: (name: string) => void): void;
  write(text: string): void;
  end(): void;
};

/** Parses a part while it is unpacked. Names have no namespace prefix. */
async function parsePart(
  zip: ZipFile,
  entry: Entry | undefined,
  { open, text, close }: Handlers,
  maxSize = maxPartBytes,
) {
  if (!entry) return;
  // The stream refuses a part whose unpacked size differs from this.
  if (entry.uncompressedSize > maxSize) throw new Error(tooLarge);
  const parser: XmlParser = new Parser();
  parser.on('error', ({ message }) => {
    throw new Error(`it is damaged: ${message}`);
  });
  let untagged = 0;
  parser.on('openTag', (name: string, attributes: () => Attributes, decode: Decode) => {
    untagged = 0;
    open?.(localName(name), () => decoded(attributes(), decode));
  });
  if (text) parser.on('text', (value: string, decode: Decode) => text(decode(value)));
  parser.on('closeTag', (name: string) => {
    untagged = 0;
    close?.(localName(name));
  });
  const stream: Readable = await zip.openReadStreamPromise(entry);
  const decoder = new TextDecoder();
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const xml = decoder.decode(chunk, { stream: true });
    untagged += xml.length;
    parser.write(xml);
    // The parser reads an unfinished text or tag again with each chunk.
    if (untagged > maxEscapedLength) throw new Error(tooMuchText);
    await nextTurn();
  }
  parser.end();
}

const tooMuchText = 'a cell has too much text';

type Decode = (text: string) => string;

const localName = (name: string) => name.slice(name.indexOf(':') + 1);

const decoded = (attributes: Attributes, decode: Decode): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [localName(name), decode(value)]),
  );

async function readSheetNames(zip: ZipFile, parts: Parts) {
  const targets = new Map<string, string>();
  await parsePart(zip, parts.get('xl/_rels/workbook.xml.rels'), {
    open(name, attributes) {
      if (name !== 'Relationship') return;
      const { Id = '', Target = '' } = attributes();
      targets.set(Id, Target.startsWith('/') ? Target.slice(1) : `xl/${Target}`);
    },
  });
  const sheets: { name: string; path: string }[] = [];
  let is1904 = false;
  await parsePart(zip, parts.get('xl/workbook.xml'), {
    open(tag, attributes) {
      if (tag === 'workbookPr') is1904 = /^(1|true)$/.test(attributes()['date1904'] ?? '');
      if (tag !== 'sheet') return;
      const { name = '', id = '', state = 'visible' } = attributes();
      const path = targets.get(id);
      if (!path || state !== 'visible') return;
      if (sheets.push({ name, path }) > maxSheets) throw new Error('it has too many sheets');
    },
  });
  return { sheets, is1904 };
}

/** Ids of the built-in date and time formats. */
const dateFormats = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 27, 30, 36, 45, 46, 47, 50, 57]);

/** Returns true for each cell style whose numbers are dates. */
async function readDateStyles(zip: ZipFile, parts: Parts): Promise<boolean[]> {
  const own = new Map<number, boolean>();
  const styles: boolean[] = [];
  let isInCells = false;
  await parsePart(zip, parts.get(stylesPath), {
    open(name, attributes) {
      if (name === 'numFmt') {
        const { numFmtId, formatCode = '' } = attributes();
        // Quoted text and colors in brackets may contain the letters of dates.
        const format = formatCode.slice(0, maxFormatLength);
        const code = format.replace(/"[^"]*"|\[[^\]]*\]|\\./g, '');
        own.set(Number(numFmtId), /[dmyhs]/i.test(code) && !/^general$/i.test(code));
      } else if (name === 'cellXfs') isInCells = true;
      else if (name === 'xf' && isInCells) {
        const id = Number(attributes()['numFmtId']);
        styles.push(own.get(id) ?? dateFormats.has(id));
      }
    },
    close(name) {
      if (name === 'cellXfs') isInCells = false;
    },
  });
  return styles;
}

/** Converts each shared string to a value of CSV once, because many cells can have the same string. */
async function readSharedStrings(zip: ZipFile, parts: Parts): Promise<string[]> {
  const strings: string[] = [];
  const text = textReader();
  const handlers = {
    ...text.handlers,
    close(name: string) {
      text.handlers.close(name);
      if (name === 'si') strings.push(quoted(text.take()));
    },
  };
  await parsePart(zip, parts.get(stringsPath), handlers, maxSharedBytes);
  return strings;
}

/** Collects the text of `t` and `v` elements, without the pronunciation of Japanese words. */
function textReader() {
  let value = '';
  let isInText = false;
  let isPhonetic = false;
  return {
    handlers: {
      open(name: string) {
        if (name === 'rPh') isPhonetic = true;
        if (name === 't' || name === 'v') isInText = !isPhonetic;
      },
      text(text: string) {
        if (isInText) value += text;
        if (value.length > maxEscapedLength) throw new Error(tooMuchText);
      },
      close(name: string) {
        if (name === 'rPh') isPhonetic = false;
        if (name === 't' || name === 'v') isInText = false;
      },
    },
    take() {
      const taken = value;
      value = '';
      return taken.replace(/_x([0-9A-F]{4})_/gi, (_, code) =>
        String.fromCharCode(parseInt(code, 16)),
      );
    },
  };
}

type SheetContext = { strings: readonly string[]; styles: readonly boolean[]; is1904: boolean };

function sheetReader(context: SheetContext, maxLength: number) {
  const text = textReader();
  const pieces: string[] = [];
  let [piece, length, rowLength, row, lines] = ['', 0, 0, 0, 0];
  let cells: string[] = [];
  let cell: Attributes = {};

  function endRow() {
    const line = cells.join(',');
    cells = [];
    rowLength = 0;
    if (line === '') return;
    piece += `${'\n'.repeat(row - lines - 1)}${line}\n`;
    lines = row;
    if (piece.length < pieceLength) return;
    length += piece.length;
    if (length > maxLength) throw new Error('its sheets are too large');
    pieces.push(piece);
    piece = '';
  }

  return {
    handlers: {
      open(name: string, attributes: () => Attributes) {
        text.handlers.open(name);
        if (name === 'row') {
          const at = Number(attributes()['r'] ?? row + 1);
          if (!(at > row && at <= maxRows)) throw new Error('its rows are not in order');
          row = at;
        } else if (name === 'c') cell = attributes();
      },
      text: text.handlers.text,
      close(name: string) {
        text.handlers.close(name);
        if (name === 'c') {
          const at = columnOf(cell['r']) ?? cells.length;
          if (at >= maxColumns) throw new Error('it has too many columns');
          while (cells.length < at) cells.push('');
          cells[at] = csvOf(cell, text.take(), context);
          rowLength += cells[at].length;
          if (rowLength > maxLength) throw new Error('its sheets are too large');
        } else if (name === 'row') endRow();
      },
    },
    end: () => (piece === '' ? pieces : [...pieces, piece]),
  };
}

/** `BC17` is column 54. */
function columnOf(reference: string | undefined): number | undefined {
  const [letters] = /^[A-Z]{1,3}/.exec(reference ?? '') ?? [];
  if (!letters) return undefined;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

const csvOf = (cell: Attributes, value: string, context: SheetContext) =>
  cell['t'] === 's' ? (context.strings[Number(value)] ?? '') : quoted(textOf(cell, value, context));

function textOf(
  { t: type = 'n', s: style = '' }: Attributes,
  value: string,
  { styles, is1904 }: SheetContext,
): string {
  switch (type) {
    case 'b':
      return value === '1' ? 'TRUE' : 'FALSE';
    case 'e':
      return '';
    case 'n':
      return value !== '' && styles[Number(style)]
        ? dateText(Number(value), is1904)
        : plainNumber(value);
    default:
      return value;
  }
}

/** 4.9171234567E11 is the telephone number 491712345670. */
const plainNumber = (value: string) => (/e/i.test(value) ? String(Number(value)) : value);

const dayMs = 86_400_000;

function dateText(days: number, is1904: boolean): string {
  // Excel counts from 1899-12-30, because it believes that 1900 was a leap year.
  const epoch = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30);
  const time = new Date(epoch + Math.round((days * dayMs) / 1000) * 1000);
  if (Number.isNaN(time.getTime())) return '';
  const [day = '', clock = ''] = time.toISOString().slice(0, 19).split('T');
  if (Number.isInteger(days)) return day;
  return days < 1 ? clock : `${day} ${clock}`;
}

/**
 * A value of CSV. Line breaks become spaces, so that a line of the text is a row of the sheet. NUL and unpaired
 * surrogates become U+FFFD, because Postgres refuses them.
 */
function quoted(cell: string): string {
  if (cell === '') return '';
  if (cell.length > maxCellLength) throw new Error(tooMuchText);
  const line = cell
    .toWellFormed()
    .replaceAll('\0', '\ufffd')
    .split(/[\r\n]+/)
    .map((each) => each.trim())
    .join(' ')
    .trim();
  return /[",]/.test(line) ? `"${line.replaceAll('"', '""')}"` : line;
}
