/** Whether a pod has finished: its containers will not run again, and it no longer uses an image or volume. */
export const isFinished = ({ phase }: { readonly phase?: string }): boolean =>
  phase === 'Succeeded' || phase === 'Failed';
