import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import {
  iconPath,
  imageValues,
  withDigest,
  withImage,
  withRepository,
} from '../../../scripts/manifests/image-values.ts';
import { plainManifests, readManifests, writeManifests } from '../../../scripts/manifests/plain.ts';

const digest = `sha256:${'a'.repeat(64)}`;

describe('plain manifests of rendered ones', () => {
  const helmLabels = { 'helm.sh/chart': 'dustpan-0.1.0', 'app.kubernetes.io/managed-by': 'Helm' };
  const rendered = [
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'a', labels: { ...helmLabels, app: 'x' } },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'test', annotations: { 'helm.sh/hook': 'test' } },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd', labels: helmLabels },
      spec: {
        replicas: 1,
        template: {
          metadata: { name: '', labels: { ...helmLabels, app: 'x' } },
          spec: { hostNetwork: false },
        },
      },
    },
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'c', annotations: { 'helm.sh/resource-policy': 'keep', other: 'y' } },
    },
  ];
  const plain = plainManifests(rendered, 'home');

  test('the namespace is first, then the CRDs, without hooks', () => {
    expect(plain.map(({ kind }) => kind)).toEqual([
      'Namespace',
      'CustomResourceDefinition',
      'ServiceAccount',
      'Deployment',
    ]);
    expect(plain[0]?.metadata).toEqual({
      name: 'home',
      labels: { 'pod-security.kubernetes.io/enforce': 'privileged' },
    });
  });

  test('objects and pod templates have no labels or annotations of Helm, and no empty map', () => {
    expect(plain.slice(1)).toEqual([
      { ...rendered[3], metadata: { name: 'c', annotations: { other: 'y' } } },
      { ...rendered[0], metadata: { name: 'a', labels: { app: 'x' } } },
      {
        ...rendered[2],
        metadata: { name: 'd' },
        spec: {
          replicas: 1,
          template: { metadata: { name: '', labels: { app: 'x' } }, spec: { hostNetwork: false } },
        },
      },
    ]);
  });

  test('written manifests are equal in YAML 1.1 and 1.2', () => {
    const text = 'apiVersion: v1\nkind: A\nmetadata: {name: a, labels: {on: "yes", at: "2026-01-01"}}\n';
    const manifests = readManifests(`---\n${text}---\n# nothing\n---\n${text}`);
    expect(manifests).toHaveLength(2);
    const written = writeManifests(manifests, ['how']);
    expect(written).toMatch(/^# how\n/);
    expect(written).toMatch(/'?on'?: 'yes'/);
    expect(readManifests(written)).toEqual(manifests);
  });

  test('rejects a number that could be octal', () => {
    expect(() => readManifests('spec:\n  mode: 0440\n')).toThrow('mode: 0440');
  });
});

describe('the released image as the chart’s default', () => {
  test.each([
    ['ghcr.io/o/dustpan', { registry: 'ghcr.io', repository: 'o/dustpan', digest: '' }],
    [`ghcr.io/o/dustpan@${digest}`, { registry: 'ghcr.io', repository: 'o/dustpan', digest }],
    ['localhost:5000/dustpan', { registry: 'localhost:5000', repository: 'dustpan', digest: '' }],
    ['team/dustpan', { registry: '', repository: 'team/dustpan', digest: '' }],
    ['dustpan', { registry: '', repository: 'dustpan', digest: '' }],
  ])('%s', (reference, values) => {
    expect(imageValues(reference)).toEqual(values);
  });

  test.each(['ghcr.io/o/dustpan:1.0', 'ghcr.io/O/dustpan', 'ghcr.io/o/dustpan@sha256:12', '', 'ghcr.io/'])(
    'rejects "%s"',
    (reference) => {
      expect(() => imageValues(reference)).toThrow('--image must be');
    },
  );

  test('changes two lines of values.yaml and no other', () => {
    const before = readFileSync('helm/dustpan/values.yaml', 'utf8');
    const image = { registry: 'ghcr.io', repository: 'o/dustpan' };
    const after = withImage(before, image);
    expect(load(after)).toEqual({
      ...(load(before) as object),
      image: { ...(load(before) as { readonly image: object }).image, ...image },
    });
    const lines = before.split('\n');
    expect(after.split('\n').filter((line, index) => line !== lines[index])).toHaveLength(2);
  });

  test('adds only a digest to Chart.yaml', () => {
    const before = readFileSync('helm/dustpan/Chart.yaml', 'utf8');
    const { annotations, ...rest } = load(before) as { readonly annotations: object };
    expect(load(withDigest(before, digest))).toEqual({
      ...rest,
      annotations: { ...annotations, 'gc.dustpan.dev/image-digest': digest },
    });
    expect(withDigest(before, '')).toBe(before);
    expect(() => withDigest('name: dustpan\n', digest)).toThrow('no annotations');
  });

  test('the chart names the repository that releases it', () => {
    const before = readFileSync('helm/dustpan/Chart.yaml', 'utf8');
    const { version } = load(before) as { readonly version: string };
    const repository = 'https://example.com/team/dustpan';
    expect(load(withRepository(before, repository))).toEqual({
      ...(load(before) as object),
      ...{ home: repository, sources: [repository] },
      icon: `${repository}/raw/v${version}/${iconPath}`,
      maintainers: [{ name: 'team', url: 'https://example.com/team' }],
    });
    expect(() => withRepository('name: dustpan\n', repository)).toThrow('no version');
    expect(readFileSync(iconPath, 'utf8')).toMatch(/^<svg xmlns="[^"]+" viewBox="0 0 64 64"/);
  });

  test('rejects values without the key', () => {
    expect(() => withImage('image:\n  tag: ""\n', imageValues('a'))).toThrow('image.registry');
  });
});
