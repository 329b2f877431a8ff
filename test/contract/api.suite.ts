import { afterAll, beforeAll, describe } from 'vitest';
import { Bed } from './api.bed.ts';
import { customRows } from './api.custom.ts';
import { deleteRows } from './api.deletes.ts';
import { eventRows, leaseRows } from './api.kinds.ts';
import { listRows } from './api.lists.ts';
import { mediaRows } from './api.media.ts';
import { patchRows } from './api.patches.ts';
import type { ContractServer, StartServer } from './server.ts';
import { watchRows } from './api.watches.ts';
import { writeRows } from './api.writes.ts';

/** What dustpan relies on from an API server, with nothing of dustpan between the rows and the wire. */
export function apiSuite(start: StartServer): void {
  let server: ContractServer;
  let bed: Bed;

  beforeAll(async () => {
    server = await start();
    bed = await Bed.on(server);
  });

  afterAll(async () => {
    await server.stop();
  });

  const rows = {
    lists: listRows,
    watches: watchRows,
    'media types': mediaRows,
    creates: writeRows,
    patches: patchRows,
    deletes: deleteRows,
    events: eventRows,
    leases: leaseRows,
    'custom resources': customRows,
  };
  for (const [name, define] of Object.entries(rows)) {
    describe(name, () => {
      define(() => bed);
    });
  }
}
