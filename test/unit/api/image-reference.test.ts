import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { imageIndex } from '../../../src/api/image-index.ts';
import {
  firstPattern,
  imageSelection,
  isRepository,
  normaliseReference,
  parseImageReference,
} from '../../../src/api/image-reference.ts';

const hex = 'a'.repeat(64);
const digest = `sha256:${hex}`;
const other = `sha256:${'b'.repeat(64)}`;

test.each([
  ...['', ':', ':tag', '/nginx', 'nginx/', 'nginx:', 'nginx@', '<none>:<none>', 'a b', '@sha256:aa'],
  // Only the name of a registry may have a port.
  ...['a:a:a@a', 'a:a:a', 'a/b:c:d', 'docker.io/a:5000/b'],
])('%j is not a reference', (text) => {
  expect(parseImageReference(text)).toBeUndefined();
  expect(normaliseReference(text)).toBe(text);
  expect(isRepository(text)).toBe(false);
  expect(firstPattern([text])({ id: 'sha256:1234', tags: [text], digests: [] })).toBe(0);
});

test('normalisation is idempotent and never throws', () => {
  const part = fc.constantFrom(...'a nginx . : / @ 5000 sha256 - library docker.io'.split(' '));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const once = normaliseReference(parts.join(''));
      expect(normaliseReference(once)).toBe(once);
    }),
  );
});

test.each([
  [['ci/*'], { tags: ['ci/a:1', 'ci/b:1'] }, 0, undefined],
  [['ci/*'], { tags: ['ci/a:1', 'prod/a:1'] }, 0, 'prod/a:1'],
  [['*/a'], { tags: ['registry.example.com/ci/a:1', 'ci/a:1'] }, 0, undefined],
  [['*/a'], { digests: [`registry.example.com/ci/a@${digest}`] }, 0, undefined],
  [['prod/*', 'ci/*'], { tags: ['ci/a:1', 'prod/a:1'] }, 0, undefined],
  [['a:1'], { tags: ['a:1'], digests: [`a@${digest}`] }, 0, undefined],
  [['a:1'], { tags: ['a:1'], digests: [`b@${digest}`] }, 0, `b@${digest}`],
  [[`a@${digest}`], { tags: ['a:1', 'a:2'], digests: [`a@${digest}`] }, 0, undefined],
  [[`a@${digest}`], { tags: ['a:1', 'b:1'], digests: [`a@${digest}`] }, 0, 'b:1'],
  [[`*@${digest}`], { tags: ['a:1'], digests: [`a@${digest}`] }, 0, undefined],
  [
    [`a:9@${digest.toUpperCase().replace('SHA', 'sha')}`],
    { tags: ['a:1'], digests: [`a@${digest}`] },
    0,
    undefined,
  ],
  [['b', `a@${digest.slice(0, -1)}?`], { tags: ['a:1'], digests: [`a@${digest}`] }, 1, 'a:1'],
  [[`*@${digest}*`], { tags: ['a:1'], digests: [`a@${digest}`] }, 0, 'a:1'],
  [['*@sha256:*'], { tags: ['a:1'], digests: [`a@${digest}`] }, 0, 'a:1'],
  [['*@*', 'a:*'], { tags: ['a:1'], digests: [`a@${digest}`] }, 0, undefined],
  [['a:*'], { digests: [`a@${digest}`] }, -1, `a@${digest}`],
  [['a@*'], { digests: [`a@${digest}`] }, 0, undefined],
  [['*', 's*'], {}, -1, 'sha256:1234'],
  [['x', 'sha256:1234'], {}, 1, undefined],
  [['b'], { tags: ['not a reference'] }, -1, 'not a reference'],
  [[], { tags: ['a:1'] }, -1, 'a:1'],
] as const)('%j select %j: the first is %d, and none matches %s', (patterns, over, index, unmatched) => {
  const image = { id: 'sha256:1234', tags: [], digests: [], ...over };
  expect(imageSelection(patterns)(image)).toMatchObject({ index, unmatched });
});

const named = (over: { tags?: string[]; digests?: string[]; id?: string }) => ({
  id: 'sha256:1234',
  tags: [],
  digests: [],
  ...over,
});

test.each(['nginx', 'docker.io/nginx', 'index.docker.io/nginx', 'library/nginx', ' nginx '])(
  'the keep pattern %j matches all tags and digests of docker.io/library/nginx and no other repository',
  (pattern) => {
    const isKept = (over: Parameters<typeof named>[0]) => firstPattern([pattern])(named(over)) === 0;
    expect(isKept({ tags: ['docker.io/library/nginx:latest'] })).toBe(true);
    expect(isKept({ tags: ['nginx:1.27'] })).toBe(true);
    expect(isKept({ digests: [`docker.io/library/nginx@${digest}`] })).toBe(true);
    expect(isKept({ tags: ['docker.io/library/nginx-extra:1', 'quay.io/nginx:1'] })).toBe(false);
  },
);

test.each([
  ['nginx:*', 'docker.io/library/nginx:1.27', true],
  ['nginx:*', 'docker.io/library/nginx-anything:1.27', false],
  ['docker.io/nginx:*', 'docker.io/library/nginx:1.27', true],
  ['docker.io/ngin?:1.*', 'docker.io/library/nginx:1.27', true],
  ['index.docker.io/bitnami/redis:*', 'docker.io/bitnami/redis:7', true],
  ['bitn*/redis:7', 'docker.io/bitnami/redis:7', true],
  ['docker.io/redis:*', 'redis:7', true],
  ['registry.example.com/base*', 'registry.example.com/base-cuda/x:1', true],
  ['[::1]:5000/app', '[::1]:5000/app:v1', true],
  ['MyRegistry/app', 'MyRegistry/app:v1', true],
  ['localhost/app', 'localhost/app:v1', true],
  ['bitnami/*', 'registry.example.com/bitnami/redis:7', false],
  ['registry:5000/app:*', 'registry:5000/app:v1', true],
  ['registry.example.com:5000/base/*', 'registry.example.com:5000/base/cuda:12', true],
  ['registry.example.com:5000/base/*', 'registry.example.com/base/cuda:12', false],
  ['*/app:v?', 'registry.example.com/app:v10', false],
  ['*/app', 'registry.example.com/team/app:v1', true],
  ['*/team/app', 'registry.example.com:5000/team/app:v1', true],
  ['reg*/app', 'registry.example.com/app:v1', true],
  ['*app', 'registry.example.com/myapp:v1', true],
  ['*/app', 'docker.io/team/app:v1', true],
  ['*/app', 'registry.example.com/app-extra:v1', false],
  ['*/app', 'registry.example.com/app/extra:v1', false],
])('whether the keep pattern %j matches %j: %j', (pattern, tag, isKept) => {
  expect(firstPattern([pattern])(named({ tags: [tag] }))).toBe(isKept ? 0 : -1);
});

test.each([
  [`*@${digest}`, true],
  [`registry.example.com/app@${digest}`, true],
  [`registry.example.com/app:v1@${digest}`, true],
  [`*@${other}`, false],
  ['*@sha256:*', true],
  ['registry.example.com/app', true],
  ['registry.example.com/app@*', true],
  // It has no tag, also if the reference of the pull had one.
  ['registry.example.com/app:*', false],
])('whether the keep pattern %j matches an image that was pulled by its digest: %j', (pattern, isKept) => {
  const image = named({ digests: [`registry.example.com/app@${digest}`] });
  expect(firstPattern([pattern])(image)).toBe(isKept ? 0 : -1);
});

test('a pattern for all images, or the id, keeps an image without names', () => {
  expect(firstPattern(['*'])(named({}))).toBe(0);
  expect(firstPattern(['none', 'sha256:1234'])(named({}))).toBe(1);
  expect(firstPattern([])(named({}))).toBe(-1);
});

const app = {
  id: digest,
  tags: ['registry.example.com/app:v1'],
  digests: [`registry.example.com/app@${other}`],
};
/** As CRI-O lists it. */
const bare = { ...app, id: hex };
const imported = { id: digest, tags: ['registry.example.com/app:v1'], digests: [] };
/** As Docker lists it. */
const short = { id: digest, tags: ['nginx:1'], digests: [`nginx@${other}`] };

test.each([
  ['its tag', 'registry.example.com/app:v1', app, true],
  ['its digest', `registry.example.com/app@${other}`, app, true],
  ['its digest with the name of a mirror', `mirror.example.com/x@${other}`, app, true],
  ['another digest with its tag', `registry.example.com/app:v1@sha256:${'c'.repeat(64)}`, app, false],
  ['a digest, while its own is unknown', `registry.example.com/app@${other}`, imported, true],
  [
    'a digest of another repository, while its own is unknown',
    `registry.example.com/x@${other}`,
    imported,
    false,
  ],
  ['its id', digest, app, true],
  ['its digest without a name, as a runtime may report it for a container', other, app, true],
  ['its id, if the runtime lists ids without the algorithm', digest, bare, true],
  ['the beginning of that id', hex.slice(0, 12), bare, true],
  ['that id as the digest of a name', `registry.example.com/z@${digest}`, bare, true],
  ['its id without the algorithm', hex, app, true],
  ['the beginning of its id', `sha256:${'a'.repeat(12)}`, app, true],
  ['a short bare id', 'a'.repeat(12), app, true],
  ['a text too short for an id', 'aaaa', app, false],
  ['its id as the digest of a name', `registry.example.com/z@${digest}`, app, true],
  ['its short name, for a search registry', 'app:v1', app, true],
  ['its whole name, if the runtime lists the short one', 'docker.io/library/nginx:1', short, true],
  ['an empty text', '', app, false],
  ['a reference of the old Docker runtime', `docker-pullable://registry.example.com/app@${other}`, app, true],
])('whether a pod with %s (%s) may use the image', (...[, spec, image, matches]) => {
  expect(imageIndex([image]).idsOf(spec).length > 0).toBe(matches);
});

describe('an image in use', () => {
  const images = [
    named({ id: digest, tags: ['docker.io/library/nginx:1'], digests: [`docker.io/library/nginx@${other}`] }),
    named({ id: 'imported', tags: ['docker.io/library/nginx:2'] }),
    named({ id: 'unnamed' }),
  ];

  test.each([
    ['a listed id', digest, [digest]],
    ['a listed id as the old Docker runtime writes it', `docker://${digest}`, [digest]],
    ['a listed digest', other, [digest]],
    ['an unlisted digest', `sha256:${'c'.repeat(64)}`, ['imported', 'unnamed']],
    ['a tag', 'nginx:1', ['imported', digest, 'unnamed']],
    ['nothing', '', []],
  ])('of which only %s is known may be any of these', (...[, reference, ids]) => {
    expect([...new Set(imageIndex(images).idsInUse(reference))].toSorted()).toEqual(ids);
  });
});

test('finds names that are not references as written, and ids in any case', () => {
  const odd = named({ id: 'sha256:odd', tags: ['<none>:<none>', 'a b'] });
  expect(imageIndex([odd]).idsOf('a b')).toEqual(['sha256:odd']);
  expect(imageIndex([odd]).idsOf('c d')).toEqual([]);
  expect(imageIndex([odd]).idsOf('sha256:odd')).toEqual(['sha256:odd']);
});

describe('a name without a registry', () => {
  const images = [
    named({ id: 'hub', tags: ['docker.io/library/nginx:latest'] }),
    named({ id: 'quay', tags: ['quay.io/nginx:latest'] }),
    named({ id: 'quay-library', tags: ['quay.io/library/nginx:latest'] }),
    named({ id: 'quay-2', tags: ['quay.io/nginx:2'] }),
    named({ id: 'quay-digest', digests: [`quay.io/nginx@${digest}`] }),
    named({ id: 'deeper', tags: ['quay.io/mirror/nginx:latest'] }),
    named({ id: 'team-hub', tags: ['docker.io/team/app:1'] }),
    named({ id: 'team-quay', tags: ['quay.io/team/app:1'] }),
    named({ id: 'local', tags: ['localhost/nginx:latest'] }),
  ];
  const latest = ['hub', 'local', 'quay', 'quay-library'];

  test.each([
    ['nginx', latest],
    ['nginx:2', ['quay-2']],
    [`nginx:9@${digest}`, ['hub', 'local', 'quay', 'quay-2', 'quay-digest', 'quay-library']],
    [`redis@${digest}`, ['quay-digest']],
    ['team/app:1', ['team-hub', 'team-quay']],
    ['app:1', []],
    ['docker.io/nginx', ['hub']],
    ['localhost/nginx', ['local']],
    ['registry:5000/team/app:1', []],
    [`quay.io/nginx@${digest}`, ['quay', 'quay-2', 'quay-digest']],
  ])('%s names %j', (spec, ids) => {
    expect(imageIndex(images).idsOf(spec).toSorted()).toEqual(ids);
  });
});
