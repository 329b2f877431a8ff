import { expect, onTestFinished, vi } from 'vitest';
import { criRuntime } from '../../../src/cri/client.ts';
import type { ContainerRuntime, RuntimeContainer, RuntimeSandbox } from '../../../src/cri/runtime.ts';
import { KubeletSide, type ContainerChoice, type RuntimeUnderTest, type TestImage } from './kubelet-side.ts';
import { soon } from '../project.ts';

/** A runtime with both of its clients: dustpan and the kubelet. */
export class CriEnvironment {
  readonly target: RuntimeUnderTest;
  readonly runtime: ContainerRuntime & { close(): void };
  readonly kubelet: KubeletSide;
  /** An image that no test removes. */
  readonly app: TestImage;
  readonly signal = new AbortController().signal;

  constructor(target: RuntimeUnderTest, app: TestImage) {
    this.target = target;
    this.app = app;
    this.runtime = criRuntime({ socket: target.socket });
    this.kubelet = new KubeletSide(target);
  }

  async container(id: string): Promise<RuntimeContainer | undefined> {
    return (await this.runtime.listContainers(this.signal)).find((one) => one.id === id);
  }

  async sandbox(id: string): Promise<RuntimeSandbox | undefined> {
    return (await this.runtime.listSandboxes(this.signal)).find((one) => one.id === id);
  }

  async imageIds(): Promise<readonly string[]> {
    return (await this.runtime.listImages(this.signal)).map(({ id }) => id);
  }

  /** The image of a container, as the runtime lists it. */
  imageOf({ id }: Pick<TestImage, 'id'>): Pick<RuntimeContainer, 'imageId' | 'imageRef'> {
    return { imageId: this.target.isContainerd17 === true ? '' : id, imageRef: id };
  }

  /** Waits until the container is in the state. */
  async reaches(id: string, state: string): Promise<void> {
    await vi.waitFor(async () => {
      expect((await this.container(id))?.state).toBe(state);
    }, soon);
  }

  /** A sandbox with one container, which does not run yet. Both are removed after the test. */
  async pod(
    name: string,
    choice: Partial<ContainerChoice> = {},
  ): Promise<{ sandboxId: string; containerId: string }> {
    const sandboxId = await this.kubelet.runPod({ name });
    onTestFinished(() => this.runtime.removeSandbox(sandboxId, this.signal));
    const wanted = { name: 'main', image: this.app.id, ...choice };
    return { sandboxId, containerId: await this.kubelet.create({ name }, sandboxId, wanted) };
  }

  async stop(): Promise<void> {
    this.kubelet.close();
    this.runtime.close();
    await this.target.stop();
  }
}
