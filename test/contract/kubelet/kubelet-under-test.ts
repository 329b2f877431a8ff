/** A kubelet under test, the sandbox or a real one. */
export interface KubeletUnderTest {
  readonly endpoint: string;
  readonly nodeName: string;
  /** PEM of the CA that signed its serving certificate. */
  readonly ca: string;
  /** `stats`: a service account that may only get nodes/stats and nodes/configz; `nothing`: one without that right. */
  readonly tokens: { readonly stats: string; readonly nothing: string };
  /** Its hard eviction thresholds, by signal. */
  readonly thresholds: Readonly<Record<string, string>>;
  /** A pod that uses this much: `data` is an emptyDir, `shm` one in memory. The kubelet has measured it. */
  readonly pod: PodUnderTest;
  stop(): Promise<void>;
}

interface PodUnderTest {
  readonly uid: string;
  readonly container: string;
  readonly dataBytes: number;
  readonly shmBytes: number;
  readonly layerBytes: number;
  readonly logBytes: number;
}
