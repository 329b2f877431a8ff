import { expect, test } from 'vitest';
import { isSameFileSystem, type FileSystemFacts } from '../../../src/api/file-system.ts';

const disk = (over: Partial<FileSystemFacts> = {}): FileSystemFacts => ({
  ...{ capacityBytes: 1000, availableBytes: 500, inodes: 100, inodesFree: 50 },
  ...over,
});

test.each<{
  readonly name: string;
  readonly a: FileSystemFacts;
  readonly b: FileSystemFacts;
  readonly same: boolean;
}>([
  { name: 'two devices of one size', a: disk({ device: 1 }), b: disk({ device: 2 }), same: false },
  {
    name: 'one device, measured at two times',
    a: disk({ device: 1 }),
    b: disk({ device: 1, capacityBytes: 2000, availableBytes: 3 }),
    same: true,
  },
  { name: 'device 0 is one', a: disk({ device: 0 }), b: disk({ device: 1 }), same: false },
  { name: 'one device is unknown, equal values', a: disk({ device: 1 }), b: disk(), same: true },
  { name: 'another capacity', a: disk(), b: disk({ capacityBytes: 1001 }), same: false },
  { name: 'other inodes', a: disk(), b: disk({ inodes: 101 }), same: false },
  { name: 'less than 1 % less available', a: disk(), b: disk({ availableBytes: 496 }), same: true },
  { name: '1 % less available', a: disk(), b: disk({ availableBytes: 495 }), same: false },
  { name: '1 % more available', a: disk({ availableBytes: 495 }), b: disk(), same: false },
  { name: 'full', a: disk({ availableBytes: 0 }), b: disk({ availableBytes: 0 }), same: true },
  { name: '10 % fewer free inodes', a: disk(), b: disk({ inodesFree: 45 }), same: false },
  {
    name: 'no inodes counted',
    a: disk({ inodes: undefined, inodesFree: undefined }),
    b: disk({ inodes: undefined, inodesFree: undefined }),
    same: true,
  },
  { name: 'inodes of one unknown', a: disk(), b: disk({ inodes: undefined }), same: false },
  { name: 'available bytes of one unknown', a: disk(), b: disk({ availableBytes: undefined }), same: false },
  {
    name: 'capacities unknown',
    a: disk({ capacityBytes: undefined }),
    b: disk({ capacityBytes: undefined }),
    same: false,
  },
])('$name: same $same', ({ a, b, same }) => {
  expect(isSameFileSystem(a, b)).toBe(same);
});
