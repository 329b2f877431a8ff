import { beforeAll, expect, test } from 'vitest';
import { causedBy, refusal, unique, type Bed } from './api.bed.ts';

/** Paging, selectors and resourceVersions of lists. */
export function listRows(bed: () => Bed): void {
  const group = unique('list');
  const ours = `labelSelector=group%3D${group}`;
  const list = (query: string): string => `${bed().pods()}?${query}`;

  beforeAll(async () => {
    const label = (more: object): object => ({ metadata: { labels: { group, ...more } } });
    await bed().createPod(`${group}-a`, label({ app: 'x' }));
    await bed().createPod(`${group}-b`, {
      ...label({ app: 'y', empty: '' }),
      spec: { nodeName: 'list-node' },
    });
    await bed().createPod(`${group}-c`, label({}));
  });

  const letters = async (query: string): Promise<string> => {
    const names = await bed().names(list(query));
    return names.map((name) => name.slice(group.length + 1)).join('');
  };

  test('pages through everything, in the order of names, each object once', async () => {
    const seen: string[] = [];
    let token = '';
    do {
      const page = await bed().get(list(`${ours}&limit=2&continue=${token}`));
      seen.push(...(page.items ?? []).map(({ metadata }) => metadata.name));
      token = page.metadata.continue ?? '';
    } while (token !== '');
    expect(seen).toEqual([`${group}-a`, `${group}-b`, `${group}-c`]);
  });

  test('counts what remains, but not through a selector', async () => {
    const plain = await bed().get(list('limit=1'));
    expect(plain.metadata.remainingItemCount).toBeGreaterThanOrEqual(2);
    const selected = await bed().get(list(`${ours}&limit=1`));
    expect(selected.metadata.remainingItemCount).toBeUndefined();
    expect(selected.metadata.continue).toBeTruthy();
  });

  test('shows on later pages what the first page saw', async () => {
    const first = await bed().get(list('limit=1'));
    const late = unique('zz');
    await bed().createPod(late);
    const rest = await bed().get(list(`continue=${first.metadata.continue ?? ''}`));
    expect((rest.items ?? []).map(({ metadata }) => metadata.name)).not.toContain(late);
    expect(rest.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    await bed().delete(bed().pods(late), { gracePeriodSeconds: 0 });
  });

  test('ignores the limit when any version will do', async () => {
    const page = await bed().get(list(`${ours}&limit=1&resourceVersion=0`));
    expect(page.items).toHaveLength(3);
  });

  test('shows the past at an exact resourceVersion', async () => {
    const before = await bed().now();
    const late = unique('late');
    await bed().createPod(late);
    expect(await bed().names(list(`resourceVersion=${before}&resourceVersionMatch=Exact`))).not.toContain(
      late,
    );
    expect(await bed().names(list(`resourceVersion=${before}&resourceVersionMatch=NotOlderThan`))).toContain(
      late,
    );
  });

  test('is empty, not an error, in a namespace that does not exist', async () => {
    expect(await bed().names('/api/v1/namespaces/no-such-namespace/pods')).toEqual([]);
  });

  test('names the kind of a list, and not that of its built-in items', async () => {
    const page = await bed().get(list(`${ours}&limit=1`));
    expect(page).toMatchObject({ kind: 'PodList', apiVersion: 'v1' });
    expect(Object.keys(page.items?.[0] ?? {})).not.toContain('kind');
  });

  test.each([
    { selector: 'app=x', found: 'a' },
    { selector: 'app==x', found: 'a' },
    { selector: 'app!=x', found: 'bc' },
    { selector: 'app', found: 'ab' },
    { selector: '!app', found: 'c' },
    { selector: 'app in (x,y)', found: 'ab' },
    { selector: 'app notin (x)', found: 'bc' },
    { selector: 'empty=', found: 'b' },
    { selector: 'app=y,empty', found: 'b' },
  ])('finds by label: $selector', async ({ selector, found }) => {
    expect(await letters(`labelSelector=${encodeURIComponent(`group=${group},${selector}`)}`)).toBe(found);
  });

  test.each([
    { selector: 'spec.nodeName=list-node', found: 'b' },
    { selector: 'spec.nodeName!=list-node', found: 'ac' },
    { selector: 'spec.nodeName=', found: 'ac' },
    { selector: 'status.phase=Pending,spec.nodeName=', found: 'ac' },
    { selector: 'status.phase!=Pending', found: '' },
    { selector: `metadata.name=${group}-c`, found: 'c' },
  ])('finds by field: $selector', async ({ selector, found }) => {
    expect(await letters(`${ours}&fieldSelector=${encodeURIComponent(selector)}`)).toBe(found);
  });

  test.each([
    {
      name: 'a field that is none',
      query: 'fieldSelector=spec.foo%3D1',
      message: 'field label not supported: spec.foo',
    },
    {
      name: 'a field selector that is none',
      query: 'fieldSelector=bad',
      message: "invalid selector: 'bad'; can't understand 'bad'",
    },
    { name: 'a label selector that is none', query: 'labelSelector=app%3D%3D%3Dx' },
    {
      name: 'a limit that is no number',
      query: 'limit=x',
      message: 'strconv.ParseInt: parsing "x": invalid syntax',
    },
    { name: 'a resourceVersion that is no number', query: 'resourceVersion=x' },
    { name: 'a continue token that is none', query: 'continue=abc' },
  ])('refuses $name', async ({ query, message }) => {
    const rest = message === undefined ? {} : { message };
    expect(await bed().ask('GET', list(query))).toMatchObject(refusal(400, 'BadRequest', rest));
  });

  test('refuses a resourceVersion beside a continue token', async () => {
    const { metadata } = await bed().get(list('limit=1'));
    const query = `limit=1&resourceVersion=5&continue=${metadata.continue ?? ''}`;
    const message = 'specifying resource version is not allowed when using continue';
    expect(await bed().ask('GET', list(query))).toMatchObject(refusal(400, 'BadRequest', { message }));
  });

  test.each([
    { name: 'a match without a version', query: 'resourceVersionMatch=Exact', field: 'resourceVersionMatch' },
    {
      name: 'an exact match of any version',
      query: 'resourceVersion=0&resourceVersionMatch=Exact',
      field: 'resourceVersionMatch',
    },
    {
      name: 'a match that is none',
      query: 'resourceVersion=5&resourceVersionMatch=Foo',
      field: 'resourceVersionMatch',
    },
    { name: 'initial events without a watch', query: 'sendInitialEvents=true', field: 'sendInitialEvents' },
  ])('refuses $name', async ({ query, field }) => {
    const details = { group: 'meta.k8s.io', kind: 'ListOptions', ...causedBy(field) };
    expect(await bed().ask('GET', list(query))).toMatchObject(refusal(422, 'Invalid', { details }));
  });

  test('says that a resourceVersion is not there yet', async () => {
    const answer = await bed().ask('GET', list('resourceVersion=999999999999'));
    const details = { causes: [{ reason: 'ResourceVersionTooLarge' }], retryAfterSeconds: 1 };
    expect(answer).toMatchObject(refusal(504, 'Timeout', { details }));
  });
}
