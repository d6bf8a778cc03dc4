/** The rows of a list after a position, up to and with another one; null is without an end on that side. */
export type ListRange<Position> = { after: Position | null; until: Position | null };

/** Text, or the bytes of one. */
export type FileText = string | Uint8Array;

/** The rows of a range as text. Of a range that has become too long only its beginning, with the position of its end. */
export type RangeText<Position> = { text: FileText; last: Position | undefined };

type DividedList<Position> = {
  read: (range: ListRange<Position>, reader: ListReader) => Promise<RangeText<Position>>;
  /** The positions at which the next `many` ranges after one end; fewer when the list has no more. */
  divide: (after: Position, many: number, reader: ListReader) => Promise<Position[]>;
};

/** Where it has gone, work that has not begun is of no use. */
export type ListReader = { isGone: () => boolean };

/** Of a list, in addition to the range that the reader takes: the database makes one while another is on its way. */
const rangesUnderWay = 2;
const rangesPerDivision = 16;

/**
 * A list of any length as text, in its order. Its ranges are known before they are read, so that several can be read at
 * the same time; at most `rangesUnderWay` are, however slow the reader is. A list that fits one range costs one read.
 */
export async function* readAhead<Position>(list: DividedList<Position>): AsyncGenerator<FileText> {
  let isGone = false;
  const reader = { isGone: () => isGone };
  try {
    const first = await list.read({ after: null, until: null }, reader);
    const ranges = first.last && rangesAfter(list, first.last, reader);
    const next = ranges && (() => unwatched(readNext(list, ranges, reader)));
    const underWay = next ? Array.from({ length: rangesUnderWay }, next) : [];
    if (first.text.length > 0) yield first.text;
    for (let read = await underWay.shift(); read; read = await underWay.shift()) {
      underWay.push(next!());
      yield* wholeRange(list, read, reader);
    }
  } finally {
    isGone = true;
  }
}

type ReadRange<Position> = RangeText<Position> & Pick<ListRange<Position>, 'until'>;

/** All ranges after a position, in order. Where the next ones end is found out while these are read. */
async function* rangesAfter<Position>(
  { divide }: DividedList<Position>,
  position: Position,
  reader: ListReader,
): AsyncGenerator<ListRange<Position>> {
  const endsAfter = (end: Position) => unwatched(divide(end, rangesPerDivision, reader));
  let after = position;
  for (let division: Promise<Position[]> | undefined = endsAfter(after); division; ) {
    const ends: Position[] = await division;
    division = ends.length < rangesPerDivision ? undefined : endsAfter(ends.at(-1)!);
    for (const until of ends) {
      yield { after, until };
      after = until;
    }
  }
  yield { after, until: null };
}

async function readNext<Position>(
  { read }: DividedList<Position>,
  ranges: AsyncGenerator<ListRange<Position>>,
  reader: ListReader,
): Promise<ReadRange<Position> | undefined> {
  const { done, value } = await ranges.next();
  return done ? undefined : { ...(await read(value, reader)), until: value.until };
}

/** With what has come into a range since it was measured. */
async function* wholeRange<Position>(
  { read }: DividedList<Position>,
  { text, last, until }: ReadRange<Position>,
  reader: ListReader,
): AsyncGenerator<FileText> {
  if (text.length > 0) yield text;
  for (let after = last; after; ) {
    const more: RangeText<Position> = await read({ after, until }, reader);
    if (more.text.length > 0) yield more.text;
    after = more.last;
  }
}

/** Whether it failed is found out when its turn comes, if the reader waits for it at all. */
function unwatched<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}
