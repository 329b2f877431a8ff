import { describe, expect, test } from 'vitest';
import { findTarget } from '../../../../src/commands/why/target.ts';
import type { RuntimeImage } from '../../../../src/cri/runtime.ts';
import { image } from '../../../fakes/runtime.ts';
import { worldOf } from './fixtures.ts';

describe('an image', () => {
  const digest = `sha256:${'d'.repeat(64)}`;
  const images: readonly RuntimeImage[] = [
    image('cafe0123456789', { tags: ['docker.io/library/nginx:latest', 'docker.io/library/nginx:1.27'] }),
    image('cafe9876543210', {
      tags: ['registry.example.com/app:v1'],
      digests: [`registry.example.com/app@${digest}`],
    }),
    image('beef0000000000', { tags: [], digests: [] }),
  ];
  const world = worldOf({ policies: [], part: { images } });
  const found = (text: string, nodeName?: string): string => {
    const target = findTarget({ kind: 'image', text, node: nodeName }, world);
    if (target.kind !== 'found') return target.message;
    return images
      .map(({ id }) => id)
      .filter((id) => target.only({ kind: 'Image', id, node: 'node-1' }))
      .join();
  };

  test.each([
    { text: 'nginx', is: 'sha256:cafe0123456789' },
    { text: 'nginx:1.27', is: 'sha256:cafe0123456789' },
    { text: 'docker.io/nginx', is: 'sha256:cafe0123456789' },
    { text: `registry.example.com/app@${digest}`, is: 'sha256:cafe9876543210' },
    { text: digest, is: 'sha256:cafe9876543210' },
    { text: 'beef', is: 'sha256:beef0000000000' },
    { text: 'sha256:beef', is: 'sha256:beef0000000000' },
    { text: 'cafe9', is: 'sha256:cafe9876543210' },
    {
      text: 'cafe',
      is: '"cafe" is ambiguous, 2 match: cafe01234567 (docker.io/library/nginx:latest), cafe98765432 (registry.example.com/app:v1)',
    },
    { text: 'bee', is: 'there is no image bee on node-1' },
    {
      text: 'registry.example.com/app:v2',
      is: 'there is no image registry.example.com/app:v2 on node-1; did you mean registry.example.com/app:v1?',
    },
    { text: 'app', is: 'there is no image app on node-1; did you mean registry.example.com/app:v1?' },
    { text: 'nginx', nodeName: 'node-2', is: 'node node-2 was not read, only node-1' },
  ])('$text $nodeName: $is', ({ text, nodeName, is }) => {
    expect(found(text, nodeName)).toBe(is);
  });
});
