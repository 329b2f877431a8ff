import type { NodeGCReportStatusImagesPull } from '../../api/gen/nodegcreport.gen.ts';
import { sizeText } from '../../runtime/text/size-text.ts';

/** What an image that pods wait for needs, and what is free for it. */
export function pullText({
  pods,
  podCount,
  image,
  neededBytes,
  receivedBytes,
  availableBytes,
}: NodeGCReportStatusImagesPull): string {
  const others = podCount > 1 ? ` (and ${podCount - 1} more)` : '';
  const subject = `Pod ${pods.slice(0, 1).join('')}${others} needs`;
  if (neededBytes === undefined) return `${subject} ${image}, whose size is not known yet`;
  const needed = `${subject} ${sizeText(neededBytes)}${receivedBytes === undefined ? '' : ' more'} for ${image}`;
  return availableBytes === undefined
    ? needed
    : `${needed}, and ${sizeText(availableBytes)} are free below the threshold`;
}

const fitText = {
  Fits: undefined,
  Freeing: 'unused images are removed first',
  Short: 'the removal of unused images cannot make it fit',
  Off: 'no policy in mode Enforce lets dustpan remove unused images for it now (nodes.imageGC.pullHeadroom)',
  Unknown: undefined,
} as const;

/** Whether a pull fits, in one sentence without a full stop, and how far it is. */
export function explainPull(pull: NodeGCReportStatusImagesPull): string {
  const { fit, totalBytes, receivedBytes, reason, attempts = 0 } = pull;
  const progress =
    totalBytes === undefined || receivedBytes === undefined
      ? []
      : [`${sizeText(receivedBytes)} of ${sizeText(totalBytes)} are received`];
  const remark = fitText[fit];
  const sentence = `${pullText(pull)}${remark === undefined ? '' : `: ${remark}`}`;
  const repeated = attempts > 1 ? [`at least ${attempts} attempts have begun`] : [];
  return [
    sentence,
    ...progress,
    ...repeated,
    ...(reason === undefined ? [] : [`the kubelet reports ${reason}`]),
  ].join('; ');
}
