import type { PodRef } from '../../api/pod-ref.ts';
import type { ContainerWarnReason } from '../../api/reasons.ts';
import { quantityText } from '../../runtime/text/quantity.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import type { ReasonCatalog } from './entry.ts';
import { podText } from './words.ts';

/** The current log of a running container. */
interface LargeLog {
  readonly pod: PodRef;
  readonly container: string;
  readonly path: string;
  readonly bytes: number;
  /** The size above which the policy warns. */
  readonly warnBytes: number;
}

export type ContainerWarnEvidence = Record<ContainerWarnReason, LargeLog>;

/** Reasons of the warnings of containergc. */
export const containerWarnings: ReasonCatalog<ContainerWarnEvidence> = {
  LogTooLarge: {
    meaning:
      'It is running, and its current log file is larger than nodes.containerGC.logs.warnBytesPerContainer: log rotation fails or is off, or the container writes faster than the kubelet rotates.',
    sentence: (log) => `${largeLogClause(log)}. The file is ${log.path}.`,
    field: ({ warnBytes }) => `nodes.containerGC.logs.warnBytesPerContainer=${quantityText(warnBytes)}`,
    change:
      'The kubelet rotates the log, the container stops, or nodes.containerGC.logs.warnBytesPerContainer is higher or empty.',
    caution:
      "dustpan never truncates or removes the current log of a running container. Compare the size with the kubelet's containerLogMaxSize, and check the kubelet's log for rotation errors.",
  },
};

/** The size of a log and the size above which the policy warns. */
export const largeLogClause = ({ container, pod, bytes, warnBytes }: LargeLog): string =>
  `The current log of container ${container} of ${podText(pod)} is ${sizeText(bytes)}; dustpan warns above ${quantityText(warnBytes)}`;
