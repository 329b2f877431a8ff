import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import type { Logger } from '../../runtime/logging/logger.ts';

/** Tells a person, once for each change, what governs the node; to be asked only while node and policies are known. */
export class Governor {
  readonly #nodeName: string;
  readonly #log: Logger;
  #told = '';

  constructor(nodeName: string, log: Logger) {
    this.#nodeName = nodeName;
    this.#log = log;
  }

  /** True when it is not what it was. */
  changed(now: NodeGovernance): boolean {
    const { uid, generation } = now.policy ?? {};
    const key = JSON.stringify([now.kind, now.kind === 'keep' && now.reason, uid, generation]);
    if (key === this.#told) return false;
    this.#told = key;
    this.#tell(now);
    return true;
  }

  #tell(now: NodeGovernance): void {
    const fields = { node: this.#nodeName, policy: now.policy?.name };
    if (now.kind === 'governed')
      this.#log.info({ ...fields, mode: now.policy.mode }, 'policy governs this node');
    else if (now.reason === 'NodeUnknown')
      this.#log.warn(fields, 'there is no such node, nothing is collected until it appears');
    else this.#log.info({ ...fields, reason: now.reason }, 'nothing is collected on this node');
  }
}
