import { podOf, type PodTraits } from '../population/pods.ts';
import { seededRandom } from '../population/random.ts';
import { randomPopulation, type Population } from '../population/population.ts';

const finished = { phase: 'Succeeded', reason: '', terminating: false, finalizers: [], nodeName: 'node-0' };

/** Sorted from the oldest to the newest. */
const pods: readonly (Partial<PodTraits> & { readonly namespace?: string })[] = [
  { name: 'marked', labels: { 'gc.dustpan.dev/keep': 'true' } },
  // Finished and terminating on a node out of service: due by two of upstream's rules.
  { name: 'twice', terminating: true, nodeName: 'node-6' },
  { name: 'uncounted', finalizers: ['batch.kubernetes.io/job-tracking'] },
  { name: 'held', finalizers: ['example.com/backup'] },
  ...['free-0', 'free-1', 'free-2', 'free-3'].map((name) => ({ name })),
  // Stuck pods of another namespace, which no threshold ever reaches.
  { name: 'uncounted-new', namespace: 'team-a', finalizers: ['batch.kubernetes.io/job-tracking'] },
  { name: 'held-new', namespace: 'team-a', terminating: true, grace: 0, finalizers: ['example.com/backup'] },
];

/** The cases that `randomPopulation` leaves out; the names describe them. */
export function deviatingPopulation(): Population {
  const random = seededRandom(0);
  const { nodes, namespaces } = randomPopulation(0, { pods: 0 });
  const createdMs = (i: number): number => Date.parse('2026-01-01T00:00:00Z') + i * 60_000;
  const objects = pods.map(({ name = '', ...traits }, i) =>
    podOf(random, { ...finished, namespace: 'batch', name, createdMs: createdMs(i), ...traits }),
  );
  return { nodes, namespaces, pods: objects };
}
