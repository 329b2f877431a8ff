import type { TopView } from './view.ts';
import { workloadNames } from './workloads.ts';

/** For `-o name`: the arguments by which kubectl, and for images `dustpan why`, name each row. Not of names that no object can have: a shell may read them as options. */
export const nameLines = (view: TopView): readonly string[] => plainNames(namesOf(view));

export const plainNames = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => plainName.test(line));

const plainName = /^[a-z][a-z.]*\/[A-Za-z0-9][A-Za-z0-9:._@/-]*( (-n |--node=)[a-z0-9][a-z0-9.-]*)?$/;

function namesOf(view: TopView): readonly string[] {
  switch (view.kind) {
    case 'TopDisk':
      return [];
    case 'TopNodes':
      return view.items.map(({ name }) => `node/${name}`);
    case 'TopNamespaces':
      return view.items.map(({ name }) => `namespace/${name}`);
    case 'TopWorkloads':
      return view.items.flatMap(workloadNames);
    case 'TopPods':
      return view.items.map(({ name, namespace }) => `pod/${name} -n ${namespace}`);
    case 'TopVolumes':
      return view.items.map(
        ({ kind, name, pod, namespace }) =>
          `${kind === 'pvc' ? `persistentvolumeclaim/${name}` : `pod/${pod}`} -n ${namespace}`,
      );
    case 'TopImages':
      return view.items.flatMap(({ id, nodes }) => nodes.map(({ node }) => `image/${id} --node=${node}`));
  }
}
