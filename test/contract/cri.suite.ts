import { afterAll, beforeAll } from 'vitest';
import { containerSuite } from './cri.containers.ts';
import { faultSuite } from './cri.faults.ts';
import { imageSuite } from './cri.images.ts';
import { sandboxSuite } from './cri.sandboxes.ts';
import type { StartCriBed } from './cri.bed.ts';
import { CriScene } from './cri.scene.ts';

/** What dustpan relies on from a container runtime. */
export function criSuite(startBed: StartCriBed): void {
  let current: CriScene | undefined;
  const scene = (): CriScene => {
    if (current === undefined) throw new Error('the runtime was not started');
    return current;
  };

  beforeAll(async () => {
    const bed = await startBed();
    current = new CriScene(bed, await bed.image(['bed.test/app:1']));
  });

  afterAll(() => current?.stop());

  imageSuite(scene);
  containerSuite(scene);
  sandboxSuite(scene);
  faultSuite(scene);
}
