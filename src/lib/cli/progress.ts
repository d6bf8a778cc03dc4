/** Shows how far a long command is: on a terminal, on one line; elsewhere not at all. */
export function createProgress(what: string, stream: NodeJS.WriteStream = process.stderr) {
  return (done: number, total: number) => {
    if (!stream.isTTY) return;
    const end = done >= total ? '\n' : '';
    stream.write(`\r${what}: ${done} of ${total}${end}`);
  };
}
