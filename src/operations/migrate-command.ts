import type { CommandTools } from '../command-tools.ts';
import { command } from '../lib/cli/command.ts';
import { migrate } from '../lib/db/migrate.ts';
import { prepareQueue } from '../lib/queue/enqueue.ts';
import { openDatabase } from '../open-database.ts';

export const migrateCommand = command({
  name: 'migrate',
  does: 'brings the database up to date with this askback',
  options: {},
  async run(tools: CommandTools) {
    const { db, sessions, close } = await openDatabase(tools.config(), {
      ...tools,
      connections: 2,
    });
    try {
      await prepareQueue(db, sessions);
      const applied = await migrate(db);
      const text =
        applied.length === 0 ? 'the database is up to date' : `applied ${applied.join(', ')}`;
      return { data: { applied }, text };
    } finally {
      await close();
    }
  },
});
