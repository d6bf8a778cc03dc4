const size = 16;
const color = { red: 0x4a, green: 0x55, blue: 0x68 };
const headerBytes = 22;
const bitmapHeaderBytes = 40;
const pixelBytes = size * size * 4;
const maskBytes = size * 4;

/** A square with cut corners as `/favicon.ico`, in the form that every browser reads. */
export function drawIcon(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(headerBytes + bitmapHeaderBytes + pixelBytes + maskBytes);
  const view = new DataView(bytes.buffer);
  view.setUint16(2, 1, true); // an icon
  view.setUint16(4, 1, true); // one picture
  bytes.set([size, size], 6);
  view.setUint16(10, 1, true); // planes
  view.setUint16(12, 32, true); // bits of a pixel
  view.setUint32(14, bitmapHeaderBytes + pixelBytes + maskBytes, true);
  view.setUint32(18, headerBytes, true);
  view.setUint32(headerBytes, bitmapHeaderBytes, true);
  view.setInt32(headerBytes + 4, size, true);
  view.setInt32(headerBytes + 8, size * 2, true); // the picture and its mask
  view.setUint16(headerBytes + 12, 1, true);
  view.setUint16(headerBytes + 14, 32, true);
  for (let pixel = 0; pixel < size * size; pixel++) {
    const [row, column] = [Math.floor(pixel / size), pixel % size];
    const isCorner = [row, column].every((at) => at === 0 || at === size - 1);
    const alpha = isCorner ? 0 : 255;
    bytes.set(
      [color.blue, color.green, color.red, alpha],
      headerBytes + bitmapHeaderBytes + pixel * 4,
    );
  }
  return bytes;
}
