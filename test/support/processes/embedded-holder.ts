import { startEmbedded } from '../../../src/lib/embedded-postgres/embedded.ts';

/** A process that serves from a data folder. Prints the address or the reason for a refusal. */
try {
  const embedded = await startEmbedded({
    program: 'askback',
    dataDir: process.argv[2]!,
    say: () => {},
    durable: false,
    keepRoot: process.argv[3] !== 'become',
  });
  embedded.onExit((sentence) => {
    console.log(`exit ${sentence}`);
    process.exit(1);
  });
  process.once('SIGTERM', async () => {
    await embedded.stop();
    process.exit(0);
  });
  process.once('SIGUSR2', () => process.exit(1));
  setInterval(() => {}, 60_000);
  console.log(`ready ${embedded.url} ${process.getuid?.()}`);
} catch (error) {
  console.log(`refused ${(error as Error).message}`);
  process.exitCode = 1;
}
