import { bounded, bounds } from '../../runtime/bounds.ts';
import type { OwnerReference } from '../gen/meta.ts';
import type { OwnerRef } from './objects.ts';

/** The owner that is the controller of an object, bounded: the API server stores owner references unchecked. */
export function controllerOf(owners: readonly OwnerReference[]): OwnerRef | undefined {
  const owner = owners.find(({ controller }) => controller === true);
  return (
    owner && {
      apiVersion: bounded(owner.apiVersion, bounds.apiVersion),
      kind: bounded(owner.kind, bounds.label),
      name: bounded(owner.name, bounds.name),
      uid: bounded(owner.uid, bounds.uid),
    }
  );
}
