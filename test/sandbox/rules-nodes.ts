import { asObject, type KubeObject } from './json.ts';
import { plainRules } from './rules-plain.ts';
import type { Rules } from './rules.ts';

const taints = [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }];

/** A new node is not ready, whatever its creator says. */
export const nodeRules: Rules = {
  ...plainRules({ generation: false }),
  keepsStatus: true,
  admit: (object, old) => ({ object: old === undefined ? newNode(object) : object, causes: [] }),
  fields: (node) => ({ 'spec.unschedulable': String(asObject(node['spec'])['unschedulable'] === true) }),
};

const newNode = (node: KubeObject): KubeObject => ({ ...node, spec: { taints, ...asObject(node['spec']) } });
