import { commandWriter } from '../audit/acts.ts';
import { databaseCommand } from '../command-tools.ts';
import { notFound } from '../errors.ts';
import { id } from '../lib/cli/command.ts';
import { createRedactionWorker } from '../redaction-worker.ts';
import { findForEvents } from './events.ts';
import { releaseResponse } from './release.ts';

export const releaseCommand = databaseCommand({
  name: 'response release',
  does: 'releases a response on hold, so that it counts and its events are delivered',
  options: { id: id('the response') },
  async run(db, { id }) {
    const held = await findForEvents(db, id);
    if (!held) throw notFound('response');
    const tools = { db, excerpt: createRedactionWorker().excerpt };
    const data = await releaseResponse(tools, commandWriter(held.org_id), id);
    return { data, text: `released the response ${id}` };
  },
});
