import { patternsThatSelectNone, patternsWithoutImage, type NamedImage } from '../image-reference.ts';
import { isNamed } from './matching.ts';
import type { ImageGcPolicy, LabelSelector, Policy } from './policy.ts';
import { SelectorIndex } from './selector-index.ts';

interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

/** The objects of a cluster; undefined = not known, or not all of them: nothing is said about selectors for them. */
export interface Cluster {
  readonly nodes: readonly Labelled[] | undefined;
  readonly namespaces: readonly (Labelled & { readonly name: string })[] | undefined;
  readonly pods: readonly (Labelled & { readonly namespace: string })[] | undefined;
}

/** A selector that selects nothing now: probably a spelling mistake. */
export interface UnmatchedSelector {
  readonly field: 'nodes.nodeSelector' | 'pods.namespaceSelector' | 'pods.podSelector';
  /** Such as `no node`. */
  readonly selects: string;
}

/** The selectors of a policy that no object matches. Without any object of a kind, its selectors are not to blame. */
export function unmatchedSelectors(
  { nodes, pods }: Pick<Policy, 'nodes' | 'pods'>,
  cluster: Cluster,
): readonly UnmatchedSelector[] {
  const unmatched: UnmatchedSelector[] = [];
  if (nodes !== undefined && matchesNone(nodes.nodeSelector, cluster.nodes))
    unmatched.push({ field: 'nodes.nodeSelector', selects: 'no node' });
  if (pods === undefined) return unmatched;
  const { namespaceSelector, podSelector, excludeNamespaces } = pods;
  if (matchesNone(namespaceSelector, cluster.namespaces))
    return [...unmatched, { field: 'pods.namespaceSelector', selects: 'no namespace' }];
  if (cluster.namespaces === undefined || cluster.pods === undefined) return unmatched;
  const isSelected = selecting(namespaceSelector);
  const names = new Set(
    cluster.namespaces
      .filter((one) => isSelected(one) && !isNamed(excludeNamespaces, one.name))
      .map(({ name }) => name),
  );
  const inside = cluster.pods.filter(({ namespace }) => names.has(namespace));
  if (matchesNone(podSelector, inside))
    unmatched.push({ field: 'pods.podSelector', selects: 'no pod in the selected namespaces' });
  return unmatched;
}

/** Entries of excludeNamespaces that name no namespace. */
export interface UnmatchedNames {
  readonly field: 'pods.excludeNamespaces' | 'nodes.excludeNamespaces';
  readonly entries: readonly string[];
}

/** The entries of the lists of excluded namespaces that match none of the namespaces: misspelt, or for other clusters. */
export function unmatchedNames(
  { nodes, pods }: Pick<Policy, 'nodes' | 'pods'>,
  namespaces: Cluster['namespaces'] = [],
): readonly UnmatchedNames[] {
  if (namespaces.length === 0) return [];
  const matchesNoName = (entry: string): boolean => {
    const entries = new Set([entry]);
    return !namespaces.some(({ name }) => isNamed(entries, name));
  };
  const ofPods = [...(pods?.excludeNamespaces ?? [])];
  // The list of the nodes contains that of the pods.
  const ofNodes = [...(nodes?.excludeNamespaces ?? [])].filter((entry) => !ofPods.includes(entry));
  const lists = [
    { field: 'pods.excludeNamespaces', entries: ofPods.filter(matchesNoName) },
    { field: 'nodes.excludeNamespaces', entries: ofNodes.filter(matchesNoName) },
  ] as const;
  return lists.filter(({ entries }) => entries.length > 0);
}

/** The lists of image patterns in nodes.imageGC, but for `remove`: what its entries match is removed. */
export const patternListNames = ['keep', 'only', 'maximumAgeByImage'] as const;
type PatternLists = Readonly<Record<(typeof patternListNames)[number], readonly string[]>>;

export const patternLists = ({ keep, only, maximumAgeByImage }: ImageGcPolicy): PatternLists => ({
  keep,
  only,
  maximumAgeByImage: maximumAgeByImage.map(({ image }) => image),
});

/** The patterns that match none of the images: misspelt, or for images that are not there now. */
export function unmatchedPatterns(rule: ImageGcPolicy, images: readonly NamedImage[]): PatternLists {
  const { keep, only, maximumAgeByImage } = patternLists(rule);
  return {
    keep: patternsWithoutImage(keep, images),
    only: patternsThatSelectNone(only, images),
    maximumAgeByImage: patternsThatSelectNone(maximumAgeByImage, images),
  };
}

const matchesNone = (selector: LabelSelector, objects: readonly Labelled[] = []): boolean =>
  objects.length > 0 && !objects.some(selecting(selector));

function selecting(selector: LabelSelector): (object: Labelled) => boolean {
  const index = new SelectorIndex([selector]);
  return ({ labels }) => {
    const found = index.select(labels);
    return found.firstIn(found) >= 0;
  };
}
