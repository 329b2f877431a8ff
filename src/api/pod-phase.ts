/** Whether a pod has finished: its containers have ended for good, and it holds no image or volume any more. */
export const isFinished = ({ phase }: { readonly phase?: string }): boolean =>
  phase === 'Succeeded' || phase === 'Failed';
