import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CriSandbox } from '../cri/server.ts';

/**
 * Creates a file of its size for every image below the runtime's mountpoint, and deletes it with the image: the file system then shows the
 * freed space, like on a real node. A removal takes `removalMs`.
 */
export function layOutImages({ runtime, faults }: CriSandbox, removalMs = 0): void {
  mkdirSync(runtime.mountpoint, { recursive: true });
  for (const { id, sizeBytes } of runtime.images.all) {
    const file = join(runtime.mountpoint, id.replace(':', '-'));
    writeFileSync(file, Buffer.alloc(sizeBytes));
    const act = async (): Promise<void> => {
      await sleep(removalMs);
      rmSync(file, { force: true });
    };
    faults.next(({ method, request }) => method === 'RemoveImage' && imageOf(request) === id, {
      kind: 'before',
      act,
    });
  }
}

const imageOf = (request: unknown): string | undefined =>
  (request as { readonly image?: { readonly image: string } }).image?.image;
