import { crc32, deflateRawSync } from 'node:zlib';

type Part = { text: string /** Declared instead of the real size. */; size?: number };

/** A zip file with these parts. */
export function makeZip(parts: Readonly<Record<string, string | Part>>): Uint8Array<ArrayBuffer> {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, part] of Object.entries(parts)) {
    const { text, size } = typeof part === 'string' ? { text: part } : part;
    const bytes = Buffer.from(text);
    const packed = deflateRawSync(bytes);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(size ?? bytes.length, 18);
    facts.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    const versions = Buffer.from([20, 0]);
    entries.push(
      Buffer.concat([Buffer.from('PK\x01\x02'), versions, facts, rest, Buffer.from(name)]),
    );
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return new Uint8Array(Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06'), end]));
}

type Workbook = {
  /** The rows of each sheet as XML. */
  sheets: readonly { name: string; rows: string; hidden?: boolean }[];
  strings?: readonly string[];
  is1904?: boolean;
};

/** Parts of a workbook as Excel writes them. Style 1 is a date, style 2 a date with a custom format. */
export function workbookParts({ sheets, strings = [], is1904 = false }: Workbook) {
  const id = (at: number) => `rId${at + 1}`;
  return {
    'xl/_rels/workbook.xml.rels': `<Relationships>${sheets
      .map((_, at) => `<Relationship Id="${id(at)}" Target="worksheets/sheet${at + 1}.xml"/>`)
      .join('')}</Relationships>`,
    'xl/workbook.xml': `<?xml version="1.0"?><x:workbook xmlns:x="m" xmlns:r="r"><x:workbookPr date1904="${is1904 ? 1 : 0}"/><x:sheets>${sheets
      .map(
        ({ name, hidden }, at) =>
          `<x:sheet name="${name}" sheetId="${at + 1}" r:id="${id(at)}"${hidden ? ' state="hidden"' : ''}/>`,
      )
      .join('')}</x:sheets></x:workbook>`,
    'xl/styles.xml':
      '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy\\ hh:mm"/><numFmt numFmtId="165" formatCode="0.0&quot; days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>',
    'xl/sharedStrings.xml': `<sst>${strings.map((each) => `<si>${each}</si>`).join('')}</sst>`,
    ...Object.fromEntries(
      sheets.map(({ rows }, at) => [
        `xl/worksheets/sheet${at + 1}.xml`,
        `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
      ]),
    ),
  };
}
