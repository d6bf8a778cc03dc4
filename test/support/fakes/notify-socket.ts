import { dlopen } from 'node:ffi';
import { closeSync, read } from 'node:fs';
import { promisify } from 'node:util';

const [unixFamily, datagram, closeOnExec, socketLevel, receiveTimeout] = [1, 2, 0o2000000, 1, 20];
const patienceSeconds = 60;

/** The socket of a service manager. Each message is one datagram of lines. */
export function notifySocket(path: string) {
  const { functions: libc } = dlopen('libc.so.6', {
    socket: { arguments: ['int32', 'int32', 'int32'], return: 'int32' },
    bind: { arguments: ['int32', 'buffer', 'uint32'], return: 'int32' },
    setsockopt: { arguments: ['int32', 'int32', 'int32', 'buffer', 'uint32'], return: 'int32' },
  });
  const descriptor = libc.socket(unixFamily, datagram | closeOnExec, 0);
  const address = Buffer.concat([Buffer.of(unixFamily, 0), Buffer.from(path.replace(/^@/, '\0'))]);
  const timeout = Buffer.from(new BigInt64Array([BigInt(patienceSeconds), 0n]).buffer);
  const failed =
    libc.bind(descriptor, address, address.length) ||
    libc.setsockopt(descriptor, socketLevel, receiveTimeout, timeout, timeout.length);
  if (failed) throw new Error(`${path} cannot be listened on`);

  const receive = async () => {
    const { bytesRead, buffer } = await promisify(read)(descriptor, { buffer: Buffer.alloc(4096) });
    return buffer.subarray(0, bytesRead).toString().split('\n');
  };
  return {
    /** Stops receiving. */
    close: () => closeSync(descriptor),
    /** The next message with this line. Earlier messages are dropped. */
    async until(line: string): Promise<string[]> {
      for (;;) {
        const message = await receive();
        if (message.includes(line)) return message;
      }
    },
  };
}
