import { afterAll, beforeAll } from 'vitest';
import { containerSuite } from './containers.ts';
import { faultSuite } from './faults.ts';
import { imageSuite } from './images.ts';
import { sandboxSuite } from './sandboxes.ts';
import type { StartCriBed } from './kubelet-side.ts';
import { CriScene } from './environment.ts';

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
