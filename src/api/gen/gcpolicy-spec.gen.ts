// @ts-nocheck
// Made from crds/gc.dustpan.dev_gcpolicies.yaml by npm run generate. Do not edit.
import type { ValidateFunction } from 'ajv';
import type { Schema } from '../policy/schema.ts';

export interface ValidSpec {
  mode: 'DryRun' | 'Enforce';
  priority: number;
  pods?: ValidSpecPods;
  nodes?: ValidSpecNodes;
}
export interface ValidSpecPods {
  namespaceSelector: ValidSpecPodsNamespaceSelector;
  excludeNamespaces: string[];
  podSelector: ValidSpecPodsPodSelector;
  terminated?: ValidSpecPodsTerminated;
  orphaned?: ValidSpecPodsOrphaned;
  unscheduledTerminating?: ValidSpecPodsUnscheduledTerminating;
  outOfService?: ValidSpecPodsOutOfService;
  safety: ValidSpecPodsSafety;
}
export interface ValidSpecPodsNamespaceSelector {
  matchLabels?: {
    /**
     * The value of the label. Null means the empty value, as in other Kubernetes kinds.
     */
    [k: string]: string;
  };
  matchExpressions?: ValidSpecPodsNamespaceSelectorMatchExpression[];
}
export interface ValidSpecPodsNamespaceSelectorMatchExpression {
  key: string;
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  values?: string[];
}
export interface ValidSpecPodsPodSelector {
  matchLabels?: {
    /**
     * The value of the label. Null means the empty value, as in other Kubernetes kinds.
     */
    [k: string]: string;
  };
  matchExpressions?: ValidSpecPodsPodSelectorMatchExpression[];
}
export interface ValidSpecPodsPodSelectorMatchExpression {
  key: string;
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  values?: string[];
}
export interface ValidSpecPodsTerminated {
  threshold: number;
  perNamespaceThreshold?: number;
  ttlAfterFinished?: string;
  ttlByReason?: ValidSpecPodsTerminatedTtlByReasonItem[];
  honorTTLAnnotation: boolean;
  keepPerOwner: number;
  protectUnfinishedJobs: boolean;
}
export interface ValidSpecPodsTerminatedTtlByReasonItem {
  phase?: 'Succeeded' | 'Failed';
  reason?: string;
  messagePattern?: string;
  ttl: string;
}
export interface ValidSpecPodsOrphaned {
  quarantine: string;
}
export interface ValidSpecPodsUnscheduledTerminating {}
export interface ValidSpecPodsOutOfService {}
export interface ValidSpecPodsSafety {
  maxDeletesPerPass: number;
  maxOrphanedNodesPercent: number;
  holdAbove: number;
  holdFor: string;
}
export interface ValidSpecNodes {
  nodeSelector: ValidSpecNodesNodeSelector;
  excludeNamespaces: string[];
  imageGC?: ValidSpecNodesImageGC;
  containerGC?: ValidSpecNodesContainerGC;
  orphans?: ValidSpecNodesOrphans;
  localStorageEviction?: ValidSpecNodesLocalStorageEviction;
  nodePressure?: ValidSpecNodesNodePressure;
}
export interface ValidSpecNodesNodeSelector {
  matchLabels?: {
    /**
     * The value of the label. Null means the empty value, as in other Kubernetes kinds.
     */
    [k: string]: string;
  };
  matchExpressions?: ValidSpecNodesNodeSelectorMatchExpression[];
}
export interface ValidSpecNodesNodeSelectorMatchExpression {
  key: string;
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  values?: string[];
}
export interface ValidSpecNodesImageGC {
  highThresholdPercent: number;
  lowThresholdPercent: number;
  inodes?: ValidSpecNodesImageGCInodes;
  minimumAge: string;
  maximumAge: string;
  maximumAgeByImage: ValidSpecNodesImageGCMaximumAgeByImageItem[];
  keep: string[];
  kubeletHighThresholdPercent: number;
  maxImagesPerPass: number;
  holdAbove: number;
  holdFor: string;
  repullBackoff: boolean;
}
export interface ValidSpecNodesImageGCInodes {
  highThresholdPercent: number;
  lowThresholdPercent: number;
}
export interface ValidSpecNodesImageGCMaximumAgeByImageItem {
  image: string;
  maximumAge: string;
}
export interface ValidSpecNodesContainerGC {
  minimumAge: string;
  maxPerPodContainer: number;
  maxContainers: number;
  sandboxes: boolean;
  logs?: ValidSpecNodesContainerGCLogs;
}
export interface ValidSpecNodesContainerGCLogs {
  orphanedDirectories: boolean;
  brokenLinks: boolean;
  maxRotatedPerContainer: number;
  maxBytesPerPod: string;
  warnBytesPerContainer: string;
}
export interface ValidSpecNodesOrphans {
  podCgroups: 'Report' | 'Remove';
  podDirectories: 'Report' | 'Remove';
}
export interface ValidSpecNodesLocalStorageEviction {
  maxEvictionsPerMinute: number;
  warnAtPercent: number[];
  evictAtPercent: number;
  respectPodDisruptionBudgets: boolean;
  gracePeriodSeconds: number;
  defaultLimits?: ValidSpecNodesLocalStorageEvictionDefaultLimits;
}
export interface ValidSpecNodesLocalStorageEvictionDefaultLimits {
  emptyDir: string;
  pod: string;
  container: string;
}
export interface ValidSpecNodesNodePressure {
  thresholds: ValidSpecNodesNodePressureThresholds;
  minimumReclaim: ValidSpecNodesNodePressureMinimumReclaim;
  gracePeriod: string;
  transitionPeriod: string;
  forecast: string;
  evictPods: boolean;
}
export interface ValidSpecNodesNodePressureThresholds {
  'nodefs.available': string;
  'nodefs.inodesFree': string;
  'imagefs.available': string;
  'imagefs.inodesFree': string;
  'memory.available': string;
}
export interface ValidSpecNodesNodePressureMinimumReclaim {
  'nodefs.available'?: string;
  'nodefs.inodesFree'?: string;
  'imagefs.available'?: string;
  'imagefs.inodesFree'?: string;
}


export const validateSpec: ValidateFunction<ValidSpec> = validate10;
const schema11 = {"type":"object","properties":{"mode":{"type":"string","enum":["DryRun","Enforce"],"default":"DryRun"},"priority":{"type":"integer","minimum":-1000000000,"maximum":1000000000,"default":0},"pods":{"type":"object","properties":{"namespaceSelector":{"type":"object","default":{},"properties":{"matchLabels":{"type":"object","maxProperties":32,"x-kubernetes-validations":[{"rule":"self.all(k, k.size() <= 317 && k.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$'))","message":"must be a map of label keys, such as example.com/team, to values","reason":"FieldValueInvalid"}],"properties":{},"additionalProperties":{"type":"string","default":"","maxLength":63,"pattern":"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"}},"matchExpressions":{"type":"array","maxItems":32,"items":{"type":"object","required":["key","operator"],"x-kubernetes-validations":[{"rule":"!(self.operator in ['In', 'NotIn']) || (has(self.values) && size(self.values) > 0)","message":"must be given with the operators In and NotIn","fieldPath":".values","reason":"FieldValueInvalid"},{"rule":"!(self.operator in ['Exists', 'DoesNotExist']) || !has(self.values) || size(self.values) == 0","message":"must be empty with the operators Exists and DoesNotExist","fieldPath":".values","reason":"FieldValueInvalid"}],"properties":{"key":{"type":"string","minLength":1,"maxLength":317,"pattern":"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"},"operator":{"type":"string","enum":["In","NotIn","Exists","DoesNotExist"]},"values":{"type":"array","maxItems":64,"items":{"type":"string","maxLength":63,"pattern":"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"}}},"additionalProperties":false}}},"additionalProperties":false},"excludeNamespaces":{"type":"array","maxItems":256,"default":[],"uniqueItems":true,"items":{"type":"string","minLength":1,"maxLength":63,"pattern":"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}},"podSelector":{"type":"object","default":{},"properties":{"matchLabels":{"type":"object","maxProperties":32,"x-kubernetes-validations":[{"rule":"self.all(k, k.size() <= 317 && k.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$'))","message":"must be a map of label keys, such as example.com/team, to values","reason":"FieldValueInvalid"}],"properties":{},"additionalProperties":{"type":"string","default":"","maxLength":63,"pattern":"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"}},"matchExpressions":{"type":"array","maxItems":32,"items":{"type":"object","required":["key","operator"],"x-kubernetes-validations":[{"rule":"!(self.operator in ['In', 'NotIn']) || (has(self.values) && size(self.values) > 0)","message":"must be given with the operators In and NotIn","fieldPath":".values","reason":"FieldValueInvalid"},{"rule":"!(self.operator in ['Exists', 'DoesNotExist']) || !has(self.values) || size(self.values) == 0","message":"must be empty with the operators Exists and DoesNotExist","fieldPath":".values","reason":"FieldValueInvalid"}],"properties":{"key":{"type":"string","minLength":1,"maxLength":317,"pattern":"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"},"operator":{"type":"string","enum":["In","NotIn","Exists","DoesNotExist"]},"values":{"type":"array","maxItems":64,"items":{"type":"string","maxLength":63,"pattern":"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"}}},"additionalProperties":false}}},"additionalProperties":false},"terminated":{"type":"object","properties":{"threshold":{"type":"integer","minimum":-2147483648,"maximum":2147483647,"default":12500},"perNamespaceThreshold":{"type":"integer","minimum":-2147483648,"maximum":2147483647},"ttlAfterFinished":{"type":"string","minLength":2,"maxLength":32,"pattern":"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$","x-kubernetes-validations":[{"rule":"duration(self) >= duration('0s') && duration(self) <= duration('87600h')","message":"must be a duration between 0s and 87600h, such as 90s or 1h30m","reason":"FieldValueInvalid"}]},"ttlByReason":{"type":"array","maxItems":32,"items":{"type":"object","required":["ttl"],"x-kubernetes-validations":[{"rule":"has(self.phase) || has(self.reason) || (has(self.messagePattern) && self.messagePattern != '')","message":"must be given at least one of phase, reason and messagePattern","reason":"FieldValueInvalid"}],"properties":{"phase":{"type":"string","enum":["Succeeded","Failed"]},"reason":{"type":"string","minLength":1,"maxLength":128},"messagePattern":{"type":"string","maxLength":256},"ttl":{"type":"string","minLength":2,"maxLength":32,"pattern":"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$","x-kubernetes-validations":[{"rule":"duration(self) >= duration('0s') && duration(self) <= duration('87600h')","message":"must be a duration between 0s and 87600h, such as 90s or 1h30m","reason":"FieldValueInvalid"}]}},"additionalProperties":false}},"honorTTLAnnotation":{"type":"boolean","default":false},"keepPerOwner":{"type":"integer","minimum":0,"maximum":1000000,"default":0},"protectUnfinishedJobs":{"type":"boolean","default":false}},"additionalProperties":false},"orphaned":{"type":"object","properties":{"quarantine":{"type":"string","minLength":2,"maxLength":32,"pattern":"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$","x-kubernetes-validations":[{"rule":"duration(self) >= duration('0s') && duration(self) <= duration('87600h')","message":"must be a duration between 0s and 87600h, such as 90s or 1h30m","reason":"FieldValueInvalid"}],"default":"40s"}},"additionalProperties":false},"unscheduledTerminating":{"type":"object","properties":{},"additionalProperties":false},"outOfService":{"type":"object","properties":{},"additionalProperties":false},"safety":{"type":"object","default":{},"properties":{"maxDeletesPerPass":{"type":"integer","minimum":0,"maximum":1000000,"default":0},"maxOrphanedNodesPercent":{"type":"integer","minimum":0,"maximum":100,"default":20},"holdAbove":{"type":"integer","minimum":0,"maximum":1000000,"default":100},"holdFor":{"type":"string","minLength":2,"maxLength":32,"pattern":"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$","x-kubernetes-validations":[{"rule":"duration(self) >= duration('0s') && duration(self) <= duration('87600h')","message":"must be a duration between 0s and 87600h, such as 90s or 1h30m","reason":"FieldValueInvalid"}],"default":"5m"}},"additionalProperties":false}},"additionalProperties":false},"nodes":{"type":"object","properties":{"nodeSelector":{"type":"object","default":{},"properties":{"matchLabels":{"type":"object","maxProperties":32,"x-kubernetes-validations":[{"rule":"self.all(k, k.size() <= 317 && k.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$'))","message":"must be a map of label keys, such as example.com/team, to values","reason":"FieldValueInvalid"}],"properties":{},"additionalProperties":{"type":"string","default":"","maxLength":63,"pattern":"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"}},"matchExpressions":{"type":"array","maxItems":32,"items":{"type":"object","required":["key","operator"],"x-kubernetes-validations":[{"rule":"!(self.operator in ['In', 'NotIn']) || (has(self.values) && size(self.values) > 0)","message":"must be given with the operators In and NotIn","fieldPath":".values","reason":"FieldValueInvalid"},{"rule":"!(self.operator in ['Exists', 'DoesNotExist']) || !has(self.values) || size(self.values) == 0","message":"must be empty with the operators Exists and DoesNotExist","fieldPath":".values","reason":"FieldValueInvalid"}],"properties":{"key":{"type":"string","minLength":1,"maxLength":317,"pattern":"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"},"operator":{"type":"string","enum":["In","NotIn","Exists","DoesNotExist"]},"values":{"type":"array","maxItems":64,"items":{"type":"string","maxLength":63,"pattern":"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"}}},"additionalProperties":false}}},"additionalProperties":false},"excludeNamespaces":{"type":"array","maxItems":256,"default":[],"uniqueItems":true,"items":{"type":"string","minLength":1,"maxLength":63,"pattern":"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}},"imageGC":{"type":"object","x-kubernetes-validations":[{"rule":"self.lowThresholdPercent < self.highThresholdPercent","message":"must be lower than highThresholdPercent","fieldPath":".lowThresholdPercent","reason":"FieldValueInvalid"},{"rule":"duration(self.maximumAge) == duration('0s') || duration(self.maximumAge) > duration(self.minimumAge)","message":"must be 0s, or more than minimumAge","fieldPath":".maximumAge","reason":"FieldValueInvalid"},{"rule":"self.maximumAgeByImage.all(e, duration(e.maximumAge) == duration('0s') || duration(e.maximumAge) > duration(self.minimumAge))","message":"must have only maximum ages that are 0s, or more than minimumAge","fieldPath":".maximumAgeByImage","reason":"FieldValueInvalid"}],"properties":{"highThresholdPercent":{"type":"integer","minimum":0,"maximum":100,"default":85},"lowThresholdPercent":{"type":"integer","minimum":0,"maximum":100,"default":80},"inodes":{"type":"object","x-kubernetes-validations":[{"rule":"self.lowThresholdPercent < self.highThresholdPercent","message":"must be lower than highThresholdPercent","fieldPath":".lowThresholdPercent","reason":"FieldValueInvalid"}],"properties":{"highThresholdPercent":{"type":"integer","minimum":0,"maximum":100,"default":85},"lowThresholdPercent":{"type":"integer","minimum":0,"maximum":100,"default":80}},"additionalProperties":false},"minimumAge":{"type":"string","minLength":2,"maxLength":32,"pattern":"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$","x-kubernetes-validations":[{"rule":"duration(self) >= duration('0s') && duration(self) <= duration('87600h')","message":"must be a duration between 0s and 87600h, such as 90s or 1h30m","reason":"FieldValueInvalid"}],"default":"2m"},"maximumAge":{"type":"string","minLength":2,"maxLength":32,"pattern":"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$","x-kubernetes-validations":[{"rule":"duration(self) >= duration('0s') && duration(self) <= duration('87600h')","message":"must be a duration between 0s and 87600h, such as 90s or 1h30m","reason":"FieldValueInvalid"}],"default":"0s"},"maximumAgeByImage":{"type":"array","maxItems":64,"default":[],"items":{"type":"object","required":["image","maximumAge"],"properties":{"image":{"type":"string","minLength":1,"maxLength":512},"maximumAge":{"type":"string","minLength":2,"maxLength":32,"pattern":"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$","x-kubernetes-validations":[{"rule":"duration(self) >= duration('0s') && duration(self) <= duration('87600h')","message":"must be a duration between 0s and 87600h, such as 90s or 1h30m","reason":"FieldValueInvalid"}]}},"additionalProperties":false}},"keep":{"type":"array","maxItems":256,"default":[],"uniqueItems":true,"items":{"type":"string","minLength":1,"maxLength":512}},"kubeletHighThresholdPercent":{"type":"integer","minimum":0,"maximum":100,"default":85},"maxImagesPerPass":{"type":"integer","minimum":0,"maximum":1000000,"default":0},"holdAbove":{"type":"integer","minimum":0,"maximum":1000000,"default":10},"holdFor":{"type":"string","minLength":2,"maxLength":32,"pattern":"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$","x-kubernetes-validations":[{"rule":"duration(self) >= duration('0s') && duration(self) <= duration('87600h')","message":"must be a duration between 0s and 87600h, such as 90s or 1h30m","reason":"FieldValueInvalid"}],"default":"5m"},"repullBackoff":{"type":"boolean","default":true}},"additionalProperties":false},"containerGC":{"type":"object","properties":{"minimumAge":{"type":"string","minLength":2,"maxLength":32,"pattern":"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$","x-kubernetes-validations":[{"rule":"duration(self) >= duration('0s') && duration(self) <= duration('87600h')","message":"must be a duration between 0s and 87600h, such as 90s or 1h30m","reason":"FieldValueInvalid"}],"default":"0s"},"maxPerPodContainer":{"type":"integer","minimum":-1,"maximum":1000000,"default":1},"maxContainers":{"type":"integer","minimum":-1,"maximum":1000000,"default":-1},"sandboxes":{"type":"boolean","default":true},"logs":{"type":"object","properties":{"orphanedDirectories":{"type":"boolean","default":true},"brokenLinks":{"type":"boolean","default":true},"maxRotatedPerContainer":{"type":"integer","minimum":-1,"maximum":1000000,"default":-1},"maxBytesPerPod":{"type":"string","maxLength":24,"pattern":"^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$","default":""},"warnBytesPerContainer":{"type":"string","maxLength":24,"pattern":"^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$","default":""}},"additionalProperties":false}},"additionalProperties":false},"orphans":{"type":"object","properties":{"podCgroups":{"type":"string","enum":["Report","Remove"],"default":"Report"},"podDirectories":{"type":"string","enum":["Report","Remove"],"default":"Report"}},"additionalProperties":false},"localStorageEviction":{"type":"object","properties":{"maxEvictionsPerMinute":{"type":"integer","minimum":1,"maximum":1000,"default":10},"warnAtPercent":{"type":"array","maxItems":8,"default":[80,95],"uniqueItems":true,"items":{"type":"integer","minimum":1,"maximum":100}},"evictAtPercent":{"type":"integer","minimum":1,"maximum":100,"default":100},"respectPodDisruptionBudgets":{"type":"boolean","default":true},"gracePeriodSeconds":{"type":"integer","minimum":-1,"maximum":604800,"default":-1},"defaultLimits":{"type":"object","properties":{"emptyDir":{"type":"string","maxLength":24,"pattern":"^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$","default":""},"pod":{"type":"string","maxLength":24,"pattern":"^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$","default":""},"container":{"type":"string","maxLength":24,"pattern":"^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$","default":""}},"additionalProperties":false}},"additionalProperties":false},"nodePressure":{"type":"object","properties":{"thresholds":{"type":"object","default":{},"properties":{"nodefs.available":{"type":"string","minLength":1,"maxLength":24,"pattern":"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$","x-kubernetes-validations":[{"rule":"self.matches('[1-9]') || self.endsWith('%')","message":"must be a percentage such as 15%, or a quantity above 0 such as 10Gi","reason":"FieldValueInvalid"}],"default":"15%"},"nodefs.inodesFree":{"type":"string","minLength":1,"maxLength":24,"pattern":"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$","x-kubernetes-validations":[{"rule":"self.matches('[1-9]') || self.endsWith('%')","message":"must be a percentage such as 15%, or a quantity above 0 such as 10Gi","reason":"FieldValueInvalid"}],"default":"10%"},"imagefs.available":{"type":"string","minLength":1,"maxLength":24,"pattern":"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$","x-kubernetes-validations":[{"rule":"self.matches('[1-9]') || self.endsWith('%')","message":"must be a percentage such as 15%, or a quantity above 0 such as 10Gi","reason":"FieldValueInvalid"}],"default":"20%"},"imagefs.inodesFree":{"type":"string","minLength":1,"maxLength":24,"pattern":"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$","x-kubernetes-validations":[{"rule":"self.matches('[1-9]') || self.endsWith('%')","message":"must be a percentage such as 15%, or a quantity above 0 such as 10Gi","reason":"FieldValueInvalid"}],"default":"10%"},"memory.available":{"type":"string","minLength":1,"maxLength":24,"pattern":"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$","x-kubernetes-validations":[{"rule":"self.matches('[1-9]') || self.endsWith('%')","message":"must be a percentage such as 15%, or a quantity above 0 such as 10Gi","reason":"FieldValueInvalid"}],"default":"500Mi"}},"additionalProperties":false},"minimumReclaim":{"type":"object","default":{},"properties":{"nodefs.available":{"type":"string","minLength":1,"maxLength":24,"pattern":"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$","x-kubernetes-validations":[{"rule":"self.matches('[1-9]') || self.endsWith('%')","message":"must be a percentage such as 15%, or a quantity above 0 such as 10Gi","reason":"FieldValueInvalid"}]},"nodefs.inodesFree":{"type":"string","minLength":1,"maxLength":24,"pattern":"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$","x-kubernetes-validations":[{"rule":"self.matches('[1-9]') || self.endsWith('%')","message":"must be a percentage such as 15%, or a quantity above 0 such as 10Gi","reason":"FieldValueInvalid"}]},"imagefs.available":{"type":"string","minLength":1,"maxLength":24,"pattern":"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$","x-kubernetes-validations":[{"rule":"self.matches('[1-9]') || self.endsWith('%')","message":"must be a percentage such as 15%, or a quantity above 0 such as 10Gi","reason":"FieldValueInvalid"}]},"imagefs.inodesFree":{"type":"string","minLength":1,"maxLength":24,"pattern":"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$","x-kubernetes-validations":[{"rule":"self.matches('[1-9]') || self.endsWith('%')","message":"must be a percentage such as 15%, or a quantity above 0 such as 10Gi","reason":"FieldValueInvalid"}]}},"additionalProperties":false},"gracePeriod":{"type":"string","minLength":2,"maxLength":32,"pattern":"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$","x-kubernetes-validations":[{"rule":"duration(self) >= duration('0s') && duration(self) <= duration('87600h')","message":"must be a duration between 0s and 87600h, such as 90s or 1h30m","reason":"FieldValueInvalid"}],"default":"1m"},"transitionPeriod":{"type":"string","minLength":2,"maxLength":32,"pattern":"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$","x-kubernetes-validations":[{"rule":"duration(self) >= duration('0s') && duration(self) <= duration('87600h')","message":"must be a duration between 0s and 87600h, such as 90s or 1h30m","reason":"FieldValueInvalid"}],"default":"5m"},"forecast":{"type":"string","minLength":2,"maxLength":32,"pattern":"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$","x-kubernetes-validations":[{"rule":"duration(self) >= duration('0s') && duration(self) <= duration('87600h')","message":"must be a duration between 0s and 87600h, such as 90s or 1h30m","reason":"FieldValueInvalid"}],"default":"1h"},"evictPods":{"type":"boolean","default":false}},"additionalProperties":false}},"additionalProperties":false}},"additionalProperties":false};
export const specSchema: Schema = schema11;
const func2 = (text) => Array.from(text).length;
const func29 = Object.prototype.hasOwnProperty;
const pattern0 = new RegExp("^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$", "u");
const pattern1 = new RegExp("^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$", "u");
const pattern3 = new RegExp("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "u");
const pattern7 = new RegExp("^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$", "u");
const pattern20 = new RegExp("^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$", "u");
const pattern25 = new RegExp("^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$", "u");

function validate10(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.mode === undefined){
data.mode = "DryRun";
}
if(data.priority === undefined){
data.priority = 0;
}
for(const key0 in data){
if(!((((key0 === "mode") || (key0 === "priority")) || (key0 === "pods")) || (key0 === "nodes"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
let data0 = data.mode;
if(typeof data0 !== "string"){
const err1 = {instancePath:instancePath+"/mode",schemaPath:"#/properties/mode/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(!((data0 === "DryRun") || (data0 === "Enforce"))){
const err2 = {instancePath:instancePath+"/mode",schemaPath:"#/properties/mode/enum",keyword:"enum",params:{allowedValues: schema11.properties.mode.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
let data1 = data.priority;
if(!((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1)))){
const err3 = {instancePath:instancePath+"/priority",schemaPath:"#/properties/priority/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
if(typeof data1 == "number"){
if(data1 > 1000000000 || isNaN(data1)){
const err4 = {instancePath:instancePath+"/priority",schemaPath:"#/properties/priority/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000000},message:"must be <= 1000000000"};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(data1 < -1000000000 || isNaN(data1)){
const err5 = {instancePath:instancePath+"/priority",schemaPath:"#/properties/priority/minimum",keyword:"minimum",params:{comparison: ">=", limit: -1000000000},message:"must be >= -1000000000"};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.pods !== undefined){
let data2 = data.pods;
if(data2 && typeof data2 == "object" && !Array.isArray(data2)){
if(data2.namespaceSelector === undefined){
data2.namespaceSelector = {};
}
if(data2.excludeNamespaces === undefined){
data2.excludeNamespaces = [];
}
if(data2.podSelector === undefined){
data2.podSelector = {};
}
if(data2.safety === undefined){
data2.safety = {};
}
for(const key1 in data2){
if(!((((((((key1 === "namespaceSelector") || (key1 === "excludeNamespaces")) || (key1 === "podSelector")) || (key1 === "terminated")) || (key1 === "orphaned")) || (key1 === "unscheduledTerminating")) || (key1 === "outOfService")) || (key1 === "safety"))){
const err6 = {instancePath:instancePath+"/pods",schemaPath:"#/properties/pods/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
let data3 = data2.namespaceSelector;
if(data3 && typeof data3 == "object" && !Array.isArray(data3)){
for(const key2 in data3){
if(!((key2 === "matchLabels") || (key2 === "matchExpressions"))){
const err7 = {instancePath:instancePath+"/pods/namespaceSelector",schemaPath:"#/properties/pods/properties/namespaceSelector/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data3.matchLabels !== undefined){
let data4 = data3.matchLabels;
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
if(Object.keys(data4).length > 32){
const err8 = {instancePath:instancePath+"/pods/namespaceSelector/matchLabels",schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchLabels/maxProperties",keyword:"maxProperties",params:{limit: 32},message:"must NOT have more than 32 properties"};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
for(const key3 in data4){
let data5 = data4[key3];
if(typeof data5 === "string"){
if(func2(data5) > 63){
const err9 = {instancePath:instancePath+"/pods/namespaceSelector/matchLabels/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchLabels/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 63},message:"must NOT have more than 63 characters"};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(!pattern0.test(data5)){
const err10 = {instancePath:instancePath+"/pods/namespaceSelector/matchLabels/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchLabels/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"},message:"must match pattern \""+"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"+"\""};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
else {
const err11 = {instancePath:instancePath+"/pods/namespaceSelector/matchLabels/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchLabels/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
else {
const err12 = {instancePath:instancePath+"/pods/namespaceSelector/matchLabels",schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchLabels/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
if(data3.matchExpressions !== undefined){
let data6 = data3.matchExpressions;
if(Array.isArray(data6)){
if(data6.length > 32){
const err13 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions",schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/maxItems",keyword:"maxItems",params:{limit: 32},message:"must NOT have more than 32 items"};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
const len0 = data6.length;
for(let i0=0; i0<len0; i0++){
let data7 = data6[i0];
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
if(data7.key === undefined){
const err14 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions/" + i0,schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/items/required",keyword:"required",params:{missingProperty: "key"},message:"must have required property '"+"key"+"'"};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
if(data7.operator === undefined){
const err15 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions/" + i0,schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/items/required",keyword:"required",params:{missingProperty: "operator"},message:"must have required property '"+"operator"+"'"};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
for(const key4 in data7){
if(!(((key4 === "key") || (key4 === "operator")) || (key4 === "values"))){
const err16 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions/" + i0,schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key4},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
if(data7.key !== undefined){
let data8 = data7.key;
if(typeof data8 === "string"){
if(func2(data8) > 317){
const err17 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions/" + i0+"/key",schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/items/properties/key/maxLength",keyword:"maxLength",params:{limit: 317},message:"must NOT have more than 317 characters"};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
if(func2(data8) < 1){
const err18 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions/" + i0+"/key",schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/items/properties/key/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
if(!pattern1.test(data8)){
const err19 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions/" + i0+"/key",schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/items/properties/key/pattern",keyword:"pattern",params:{pattern: "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"},message:"must match pattern \""+"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"+"\""};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
else {
const err20 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions/" + i0+"/key",schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/items/properties/key/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
if(data7.operator !== undefined){
let data9 = data7.operator;
if(typeof data9 !== "string"){
const err21 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions/" + i0+"/operator",schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/items/properties/operator/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
if(!((((data9 === "In") || (data9 === "NotIn")) || (data9 === "Exists")) || (data9 === "DoesNotExist"))){
const err22 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions/" + i0+"/operator",schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/items/properties/operator/enum",keyword:"enum",params:{allowedValues: schema11.properties.pods.properties.namespaceSelector.properties.matchExpressions.items.properties.operator.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
if(data7.values !== undefined){
let data10 = data7.values;
if(Array.isArray(data10)){
if(data10.length > 64){
const err23 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions/" + i0+"/values",schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/items/properties/values/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
const len1 = data10.length;
for(let i1=0; i1<len1; i1++){
let data11 = data10[i1];
if(typeof data11 === "string"){
if(func2(data11) > 63){
const err24 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions/" + i0+"/values/" + i1,schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/items/properties/values/items/maxLength",keyword:"maxLength",params:{limit: 63},message:"must NOT have more than 63 characters"};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
if(!pattern0.test(data11)){
const err25 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions/" + i0+"/values/" + i1,schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/items/properties/values/items/pattern",keyword:"pattern",params:{pattern: "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"},message:"must match pattern \""+"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"+"\""};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
else {
const err26 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions/" + i0+"/values/" + i1,schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/items/properties/values/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
}
else {
const err27 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions/" + i0+"/values",schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/items/properties/values/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
}
else {
const err28 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions/" + i0,schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
}
else {
const err29 = {instancePath:instancePath+"/pods/namespaceSelector/matchExpressions",schemaPath:"#/properties/pods/properties/namespaceSelector/properties/matchExpressions/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
}
else {
const err30 = {instancePath:instancePath+"/pods/namespaceSelector",schemaPath:"#/properties/pods/properties/namespaceSelector/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
let data12 = data2.excludeNamespaces;
if(Array.isArray(data12)){
if(data12.length > 256){
const err31 = {instancePath:instancePath+"/pods/excludeNamespaces",schemaPath:"#/properties/pods/properties/excludeNamespaces/maxItems",keyword:"maxItems",params:{limit: 256},message:"must NOT have more than 256 items"};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
const len2 = data12.length;
for(let i2=0; i2<len2; i2++){
let data13 = data12[i2];
if(typeof data13 === "string"){
if(func2(data13) > 63){
const err32 = {instancePath:instancePath+"/pods/excludeNamespaces/" + i2,schemaPath:"#/properties/pods/properties/excludeNamespaces/items/maxLength",keyword:"maxLength",params:{limit: 63},message:"must NOT have more than 63 characters"};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
if(func2(data13) < 1){
const err33 = {instancePath:instancePath+"/pods/excludeNamespaces/" + i2,schemaPath:"#/properties/pods/properties/excludeNamespaces/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
if(!pattern3.test(data13)){
const err34 = {instancePath:instancePath+"/pods/excludeNamespaces/" + i2,schemaPath:"#/properties/pods/properties/excludeNamespaces/items/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"+"\""};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
else {
const err35 = {instancePath:instancePath+"/pods/excludeNamespaces/" + i2,schemaPath:"#/properties/pods/properties/excludeNamespaces/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
let i3 = data12.length;
let j0;
if(i3 > 1){
const indices0 = {};
for(;i3--;){
let item0 = data12[i3];
if(typeof item0 !== "string"){
continue;
}
if(typeof indices0[item0] == "number"){
j0 = indices0[item0];
const err36 = {instancePath:instancePath+"/pods/excludeNamespaces",schemaPath:"#/properties/pods/properties/excludeNamespaces/uniqueItems",keyword:"uniqueItems",params:{i: i3, j: j0},message:"must NOT have duplicate items (items ## "+j0+" and "+i3+" are identical)"};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
break;
}
indices0[item0] = i3;
}
}
}
else {
const err37 = {instancePath:instancePath+"/pods/excludeNamespaces",schemaPath:"#/properties/pods/properties/excludeNamespaces/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
let data14 = data2.podSelector;
if(data14 && typeof data14 == "object" && !Array.isArray(data14)){
for(const key5 in data14){
if(!((key5 === "matchLabels") || (key5 === "matchExpressions"))){
const err38 = {instancePath:instancePath+"/pods/podSelector",schemaPath:"#/properties/pods/properties/podSelector/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key5},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
if(data14.matchLabels !== undefined){
let data15 = data14.matchLabels;
if(data15 && typeof data15 == "object" && !Array.isArray(data15)){
if(Object.keys(data15).length > 32){
const err39 = {instancePath:instancePath+"/pods/podSelector/matchLabels",schemaPath:"#/properties/pods/properties/podSelector/properties/matchLabels/maxProperties",keyword:"maxProperties",params:{limit: 32},message:"must NOT have more than 32 properties"};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
for(const key6 in data15){
let data16 = data15[key6];
if(typeof data16 === "string"){
if(func2(data16) > 63){
const err40 = {instancePath:instancePath+"/pods/podSelector/matchLabels/" + key6.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/pods/properties/podSelector/properties/matchLabels/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 63},message:"must NOT have more than 63 characters"};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
if(!pattern0.test(data16)){
const err41 = {instancePath:instancePath+"/pods/podSelector/matchLabels/" + key6.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/pods/properties/podSelector/properties/matchLabels/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"},message:"must match pattern \""+"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"+"\""};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
}
else {
const err42 = {instancePath:instancePath+"/pods/podSelector/matchLabels/" + key6.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/pods/properties/podSelector/properties/matchLabels/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
}
else {
const err43 = {instancePath:instancePath+"/pods/podSelector/matchLabels",schemaPath:"#/properties/pods/properties/podSelector/properties/matchLabels/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
}
if(data14.matchExpressions !== undefined){
let data17 = data14.matchExpressions;
if(Array.isArray(data17)){
if(data17.length > 32){
const err44 = {instancePath:instancePath+"/pods/podSelector/matchExpressions",schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/maxItems",keyword:"maxItems",params:{limit: 32},message:"must NOT have more than 32 items"};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
const len3 = data17.length;
for(let i4=0; i4<len3; i4++){
let data18 = data17[i4];
if(data18 && typeof data18 == "object" && !Array.isArray(data18)){
if(data18.key === undefined){
const err45 = {instancePath:instancePath+"/pods/podSelector/matchExpressions/" + i4,schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/items/required",keyword:"required",params:{missingProperty: "key"},message:"must have required property '"+"key"+"'"};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
if(data18.operator === undefined){
const err46 = {instancePath:instancePath+"/pods/podSelector/matchExpressions/" + i4,schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/items/required",keyword:"required",params:{missingProperty: "operator"},message:"must have required property '"+"operator"+"'"};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
for(const key7 in data18){
if(!(((key7 === "key") || (key7 === "operator")) || (key7 === "values"))){
const err47 = {instancePath:instancePath+"/pods/podSelector/matchExpressions/" + i4,schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
}
if(data18.key !== undefined){
let data19 = data18.key;
if(typeof data19 === "string"){
if(func2(data19) > 317){
const err48 = {instancePath:instancePath+"/pods/podSelector/matchExpressions/" + i4+"/key",schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/items/properties/key/maxLength",keyword:"maxLength",params:{limit: 317},message:"must NOT have more than 317 characters"};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
if(func2(data19) < 1){
const err49 = {instancePath:instancePath+"/pods/podSelector/matchExpressions/" + i4+"/key",schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/items/properties/key/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
if(!pattern1.test(data19)){
const err50 = {instancePath:instancePath+"/pods/podSelector/matchExpressions/" + i4+"/key",schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/items/properties/key/pattern",keyword:"pattern",params:{pattern: "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"},message:"must match pattern \""+"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"+"\""};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
}
else {
const err51 = {instancePath:instancePath+"/pods/podSelector/matchExpressions/" + i4+"/key",schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/items/properties/key/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
}
if(data18.operator !== undefined){
let data20 = data18.operator;
if(typeof data20 !== "string"){
const err52 = {instancePath:instancePath+"/pods/podSelector/matchExpressions/" + i4+"/operator",schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/items/properties/operator/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
if(!((((data20 === "In") || (data20 === "NotIn")) || (data20 === "Exists")) || (data20 === "DoesNotExist"))){
const err53 = {instancePath:instancePath+"/pods/podSelector/matchExpressions/" + i4+"/operator",schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/items/properties/operator/enum",keyword:"enum",params:{allowedValues: schema11.properties.pods.properties.podSelector.properties.matchExpressions.items.properties.operator.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
}
if(data18.values !== undefined){
let data21 = data18.values;
if(Array.isArray(data21)){
if(data21.length > 64){
const err54 = {instancePath:instancePath+"/pods/podSelector/matchExpressions/" + i4+"/values",schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/items/properties/values/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
const len4 = data21.length;
for(let i5=0; i5<len4; i5++){
let data22 = data21[i5];
if(typeof data22 === "string"){
if(func2(data22) > 63){
const err55 = {instancePath:instancePath+"/pods/podSelector/matchExpressions/" + i4+"/values/" + i5,schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/items/properties/values/items/maxLength",keyword:"maxLength",params:{limit: 63},message:"must NOT have more than 63 characters"};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
if(!pattern0.test(data22)){
const err56 = {instancePath:instancePath+"/pods/podSelector/matchExpressions/" + i4+"/values/" + i5,schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/items/properties/values/items/pattern",keyword:"pattern",params:{pattern: "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"},message:"must match pattern \""+"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"+"\""};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
}
else {
const err57 = {instancePath:instancePath+"/pods/podSelector/matchExpressions/" + i4+"/values/" + i5,schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/items/properties/values/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
}
}
else {
const err58 = {instancePath:instancePath+"/pods/podSelector/matchExpressions/" + i4+"/values",schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/items/properties/values/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
}
}
else {
const err59 = {instancePath:instancePath+"/pods/podSelector/matchExpressions/" + i4,schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
}
else {
const err60 = {instancePath:instancePath+"/pods/podSelector/matchExpressions",schemaPath:"#/properties/pods/properties/podSelector/properties/matchExpressions/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
}
}
else {
const err61 = {instancePath:instancePath+"/pods/podSelector",schemaPath:"#/properties/pods/properties/podSelector/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
if(data2.terminated !== undefined){
let data23 = data2.terminated;
if(data23 && typeof data23 == "object" && !Array.isArray(data23)){
if(data23.threshold === undefined){
data23.threshold = 12500;
}
if(data23.honorTTLAnnotation === undefined){
data23.honorTTLAnnotation = false;
}
if(data23.keepPerOwner === undefined){
data23.keepPerOwner = 0;
}
if(data23.protectUnfinishedJobs === undefined){
data23.protectUnfinishedJobs = false;
}
for(const key8 in data23){
if(!(((((((key8 === "threshold") || (key8 === "perNamespaceThreshold")) || (key8 === "ttlAfterFinished")) || (key8 === "ttlByReason")) || (key8 === "honorTTLAnnotation")) || (key8 === "keepPerOwner")) || (key8 === "protectUnfinishedJobs"))){
const err62 = {instancePath:instancePath+"/pods/terminated",schemaPath:"#/properties/pods/properties/terminated/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key8},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
}
let data24 = data23.threshold;
if(!((typeof data24 == "number") && (!(data24 % 1) && !isNaN(data24)))){
const err63 = {instancePath:instancePath+"/pods/terminated/threshold",schemaPath:"#/properties/pods/properties/terminated/properties/threshold/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
if(typeof data24 == "number"){
if(data24 > 2147483647 || isNaN(data24)){
const err64 = {instancePath:instancePath+"/pods/terminated/threshold",schemaPath:"#/properties/pods/properties/terminated/properties/threshold/maximum",keyword:"maximum",params:{comparison: "<=", limit: 2147483647},message:"must be <= 2147483647"};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
if(data24 < -2147483648 || isNaN(data24)){
const err65 = {instancePath:instancePath+"/pods/terminated/threshold",schemaPath:"#/properties/pods/properties/terminated/properties/threshold/minimum",keyword:"minimum",params:{comparison: ">=", limit: -2147483648},message:"must be >= -2147483648"};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
}
if(data23.perNamespaceThreshold !== undefined){
let data25 = data23.perNamespaceThreshold;
if(!((typeof data25 == "number") && (!(data25 % 1) && !isNaN(data25)))){
const err66 = {instancePath:instancePath+"/pods/terminated/perNamespaceThreshold",schemaPath:"#/properties/pods/properties/terminated/properties/perNamespaceThreshold/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
if(typeof data25 == "number"){
if(data25 > 2147483647 || isNaN(data25)){
const err67 = {instancePath:instancePath+"/pods/terminated/perNamespaceThreshold",schemaPath:"#/properties/pods/properties/terminated/properties/perNamespaceThreshold/maximum",keyword:"maximum",params:{comparison: "<=", limit: 2147483647},message:"must be <= 2147483647"};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
if(data25 < -2147483648 || isNaN(data25)){
const err68 = {instancePath:instancePath+"/pods/terminated/perNamespaceThreshold",schemaPath:"#/properties/pods/properties/terminated/properties/perNamespaceThreshold/minimum",keyword:"minimum",params:{comparison: ">=", limit: -2147483648},message:"must be >= -2147483648"};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
}
}
if(data23.ttlAfterFinished !== undefined){
let data26 = data23.ttlAfterFinished;
if(typeof data26 === "string"){
if(func2(data26) > 32){
const err69 = {instancePath:instancePath+"/pods/terminated/ttlAfterFinished",schemaPath:"#/properties/pods/properties/terminated/properties/ttlAfterFinished/maxLength",keyword:"maxLength",params:{limit: 32},message:"must NOT have more than 32 characters"};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
if(func2(data26) < 2){
const err70 = {instancePath:instancePath+"/pods/terminated/ttlAfterFinished",schemaPath:"#/properties/pods/properties/terminated/properties/ttlAfterFinished/minLength",keyword:"minLength",params:{limit: 2},message:"must NOT have fewer than 2 characters"};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
if(!pattern7.test(data26)){
const err71 = {instancePath:instancePath+"/pods/terminated/ttlAfterFinished",schemaPath:"#/properties/pods/properties/terminated/properties/ttlAfterFinished/pattern",keyword:"pattern",params:{pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"},message:"must match pattern \""+"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"+"\""};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
}
else {
const err72 = {instancePath:instancePath+"/pods/terminated/ttlAfterFinished",schemaPath:"#/properties/pods/properties/terminated/properties/ttlAfterFinished/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
}
if(data23.ttlByReason !== undefined){
let data27 = data23.ttlByReason;
if(Array.isArray(data27)){
if(data27.length > 32){
const err73 = {instancePath:instancePath+"/pods/terminated/ttlByReason",schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/maxItems",keyword:"maxItems",params:{limit: 32},message:"must NOT have more than 32 items"};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
const len5 = data27.length;
for(let i6=0; i6<len5; i6++){
let data28 = data27[i6];
if(data28 && typeof data28 == "object" && !Array.isArray(data28)){
if(data28.ttl === undefined){
const err74 = {instancePath:instancePath+"/pods/terminated/ttlByReason/" + i6,schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/items/required",keyword:"required",params:{missingProperty: "ttl"},message:"must have required property '"+"ttl"+"'"};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
for(const key9 in data28){
if(!((((key9 === "phase") || (key9 === "reason")) || (key9 === "messagePattern")) || (key9 === "ttl"))){
const err75 = {instancePath:instancePath+"/pods/terminated/ttlByReason/" + i6,schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key9},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
}
if(data28.phase !== undefined){
let data29 = data28.phase;
if(typeof data29 !== "string"){
const err76 = {instancePath:instancePath+"/pods/terminated/ttlByReason/" + i6+"/phase",schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/items/properties/phase/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
if(!((data29 === "Succeeded") || (data29 === "Failed"))){
const err77 = {instancePath:instancePath+"/pods/terminated/ttlByReason/" + i6+"/phase",schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/items/properties/phase/enum",keyword:"enum",params:{allowedValues: schema11.properties.pods.properties.terminated.properties.ttlByReason.items.properties.phase.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
}
if(data28.reason !== undefined){
let data30 = data28.reason;
if(typeof data30 === "string"){
if(func2(data30) > 128){
const err78 = {instancePath:instancePath+"/pods/terminated/ttlByReason/" + i6+"/reason",schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/items/properties/reason/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters"};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
if(func2(data30) < 1){
const err79 = {instancePath:instancePath+"/pods/terminated/ttlByReason/" + i6+"/reason",schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/items/properties/reason/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
}
else {
const err80 = {instancePath:instancePath+"/pods/terminated/ttlByReason/" + i6+"/reason",schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/items/properties/reason/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
}
if(data28.messagePattern !== undefined){
let data31 = data28.messagePattern;
if(typeof data31 === "string"){
if(func2(data31) > 256){
const err81 = {instancePath:instancePath+"/pods/terminated/ttlByReason/" + i6+"/messagePattern",schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/items/properties/messagePattern/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"};
if(vErrors === null){
vErrors = [err81];
}
else {
vErrors.push(err81);
}
errors++;
}
}
else {
const err82 = {instancePath:instancePath+"/pods/terminated/ttlByReason/" + i6+"/messagePattern",schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/items/properties/messagePattern/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err82];
}
else {
vErrors.push(err82);
}
errors++;
}
}
if(data28.ttl !== undefined){
let data32 = data28.ttl;
if(typeof data32 === "string"){
if(func2(data32) > 32){
const err83 = {instancePath:instancePath+"/pods/terminated/ttlByReason/" + i6+"/ttl",schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/items/properties/ttl/maxLength",keyword:"maxLength",params:{limit: 32},message:"must NOT have more than 32 characters"};
if(vErrors === null){
vErrors = [err83];
}
else {
vErrors.push(err83);
}
errors++;
}
if(func2(data32) < 2){
const err84 = {instancePath:instancePath+"/pods/terminated/ttlByReason/" + i6+"/ttl",schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/items/properties/ttl/minLength",keyword:"minLength",params:{limit: 2},message:"must NOT have fewer than 2 characters"};
if(vErrors === null){
vErrors = [err84];
}
else {
vErrors.push(err84);
}
errors++;
}
if(!pattern7.test(data32)){
const err85 = {instancePath:instancePath+"/pods/terminated/ttlByReason/" + i6+"/ttl",schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/items/properties/ttl/pattern",keyword:"pattern",params:{pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"},message:"must match pattern \""+"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"+"\""};
if(vErrors === null){
vErrors = [err85];
}
else {
vErrors.push(err85);
}
errors++;
}
}
else {
const err86 = {instancePath:instancePath+"/pods/terminated/ttlByReason/" + i6+"/ttl",schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/items/properties/ttl/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err86];
}
else {
vErrors.push(err86);
}
errors++;
}
}
}
else {
const err87 = {instancePath:instancePath+"/pods/terminated/ttlByReason/" + i6,schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err87];
}
else {
vErrors.push(err87);
}
errors++;
}
}
}
else {
const err88 = {instancePath:instancePath+"/pods/terminated/ttlByReason",schemaPath:"#/properties/pods/properties/terminated/properties/ttlByReason/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err88];
}
else {
vErrors.push(err88);
}
errors++;
}
}
if(typeof data23.honorTTLAnnotation !== "boolean"){
const err89 = {instancePath:instancePath+"/pods/terminated/honorTTLAnnotation",schemaPath:"#/properties/pods/properties/terminated/properties/honorTTLAnnotation/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err89];
}
else {
vErrors.push(err89);
}
errors++;
}
let data34 = data23.keepPerOwner;
if(!((typeof data34 == "number") && (!(data34 % 1) && !isNaN(data34)))){
const err90 = {instancePath:instancePath+"/pods/terminated/keepPerOwner",schemaPath:"#/properties/pods/properties/terminated/properties/keepPerOwner/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err90];
}
else {
vErrors.push(err90);
}
errors++;
}
if(typeof data34 == "number"){
if(data34 > 1000000 || isNaN(data34)){
const err91 = {instancePath:instancePath+"/pods/terminated/keepPerOwner",schemaPath:"#/properties/pods/properties/terminated/properties/keepPerOwner/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"};
if(vErrors === null){
vErrors = [err91];
}
else {
vErrors.push(err91);
}
errors++;
}
if(data34 < 0 || isNaN(data34)){
const err92 = {instancePath:instancePath+"/pods/terminated/keepPerOwner",schemaPath:"#/properties/pods/properties/terminated/properties/keepPerOwner/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err92];
}
else {
vErrors.push(err92);
}
errors++;
}
}
if(typeof data23.protectUnfinishedJobs !== "boolean"){
const err93 = {instancePath:instancePath+"/pods/terminated/protectUnfinishedJobs",schemaPath:"#/properties/pods/properties/terminated/properties/protectUnfinishedJobs/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err93];
}
else {
vErrors.push(err93);
}
errors++;
}
}
else {
const err94 = {instancePath:instancePath+"/pods/terminated",schemaPath:"#/properties/pods/properties/terminated/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err94];
}
else {
vErrors.push(err94);
}
errors++;
}
}
if(data2.orphaned !== undefined){
let data36 = data2.orphaned;
if(data36 && typeof data36 == "object" && !Array.isArray(data36)){
if(data36.quarantine === undefined){
data36.quarantine = "40s";
}
for(const key10 in data36){
if(!(key10 === "quarantine")){
const err95 = {instancePath:instancePath+"/pods/orphaned",schemaPath:"#/properties/pods/properties/orphaned/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key10},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err95];
}
else {
vErrors.push(err95);
}
errors++;
}
}
let data37 = data36.quarantine;
if(typeof data37 === "string"){
if(func2(data37) > 32){
const err96 = {instancePath:instancePath+"/pods/orphaned/quarantine",schemaPath:"#/properties/pods/properties/orphaned/properties/quarantine/maxLength",keyword:"maxLength",params:{limit: 32},message:"must NOT have more than 32 characters"};
if(vErrors === null){
vErrors = [err96];
}
else {
vErrors.push(err96);
}
errors++;
}
if(func2(data37) < 2){
const err97 = {instancePath:instancePath+"/pods/orphaned/quarantine",schemaPath:"#/properties/pods/properties/orphaned/properties/quarantine/minLength",keyword:"minLength",params:{limit: 2},message:"must NOT have fewer than 2 characters"};
if(vErrors === null){
vErrors = [err97];
}
else {
vErrors.push(err97);
}
errors++;
}
if(!pattern7.test(data37)){
const err98 = {instancePath:instancePath+"/pods/orphaned/quarantine",schemaPath:"#/properties/pods/properties/orphaned/properties/quarantine/pattern",keyword:"pattern",params:{pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"},message:"must match pattern \""+"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"+"\""};
if(vErrors === null){
vErrors = [err98];
}
else {
vErrors.push(err98);
}
errors++;
}
}
else {
const err99 = {instancePath:instancePath+"/pods/orphaned/quarantine",schemaPath:"#/properties/pods/properties/orphaned/properties/quarantine/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err99];
}
else {
vErrors.push(err99);
}
errors++;
}
}
else {
const err100 = {instancePath:instancePath+"/pods/orphaned",schemaPath:"#/properties/pods/properties/orphaned/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err100];
}
else {
vErrors.push(err100);
}
errors++;
}
}
if(data2.unscheduledTerminating !== undefined){
let data38 = data2.unscheduledTerminating;
if(data38 && typeof data38 == "object" && !Array.isArray(data38)){
for(const key11 in data38){
const err101 = {instancePath:instancePath+"/pods/unscheduledTerminating",schemaPath:"#/properties/pods/properties/unscheduledTerminating/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key11},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err101];
}
else {
vErrors.push(err101);
}
errors++;
}
}
else {
const err102 = {instancePath:instancePath+"/pods/unscheduledTerminating",schemaPath:"#/properties/pods/properties/unscheduledTerminating/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err102];
}
else {
vErrors.push(err102);
}
errors++;
}
}
if(data2.outOfService !== undefined){
let data39 = data2.outOfService;
if(data39 && typeof data39 == "object" && !Array.isArray(data39)){
for(const key12 in data39){
const err103 = {instancePath:instancePath+"/pods/outOfService",schemaPath:"#/properties/pods/properties/outOfService/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key12},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err103];
}
else {
vErrors.push(err103);
}
errors++;
}
}
else {
const err104 = {instancePath:instancePath+"/pods/outOfService",schemaPath:"#/properties/pods/properties/outOfService/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err104];
}
else {
vErrors.push(err104);
}
errors++;
}
}
let data40 = data2.safety;
if(data40 && typeof data40 == "object" && !Array.isArray(data40)){
if(data40.maxDeletesPerPass === undefined){
data40.maxDeletesPerPass = 0;
}
if(data40.maxOrphanedNodesPercent === undefined){
data40.maxOrphanedNodesPercent = 20;
}
if(data40.holdAbove === undefined){
data40.holdAbove = 100;
}
if(data40.holdFor === undefined){
data40.holdFor = "5m";
}
for(const key13 in data40){
if(!((((key13 === "maxDeletesPerPass") || (key13 === "maxOrphanedNodesPercent")) || (key13 === "holdAbove")) || (key13 === "holdFor"))){
const err105 = {instancePath:instancePath+"/pods/safety",schemaPath:"#/properties/pods/properties/safety/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key13},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err105];
}
else {
vErrors.push(err105);
}
errors++;
}
}
let data41 = data40.maxDeletesPerPass;
if(!((typeof data41 == "number") && (!(data41 % 1) && !isNaN(data41)))){
const err106 = {instancePath:instancePath+"/pods/safety/maxDeletesPerPass",schemaPath:"#/properties/pods/properties/safety/properties/maxDeletesPerPass/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err106];
}
else {
vErrors.push(err106);
}
errors++;
}
if(typeof data41 == "number"){
if(data41 > 1000000 || isNaN(data41)){
const err107 = {instancePath:instancePath+"/pods/safety/maxDeletesPerPass",schemaPath:"#/properties/pods/properties/safety/properties/maxDeletesPerPass/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"};
if(vErrors === null){
vErrors = [err107];
}
else {
vErrors.push(err107);
}
errors++;
}
if(data41 < 0 || isNaN(data41)){
const err108 = {instancePath:instancePath+"/pods/safety/maxDeletesPerPass",schemaPath:"#/properties/pods/properties/safety/properties/maxDeletesPerPass/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err108];
}
else {
vErrors.push(err108);
}
errors++;
}
}
let data42 = data40.maxOrphanedNodesPercent;
if(!((typeof data42 == "number") && (!(data42 % 1) && !isNaN(data42)))){
const err109 = {instancePath:instancePath+"/pods/safety/maxOrphanedNodesPercent",schemaPath:"#/properties/pods/properties/safety/properties/maxOrphanedNodesPercent/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err109];
}
else {
vErrors.push(err109);
}
errors++;
}
if(typeof data42 == "number"){
if(data42 > 100 || isNaN(data42)){
const err110 = {instancePath:instancePath+"/pods/safety/maxOrphanedNodesPercent",schemaPath:"#/properties/pods/properties/safety/properties/maxOrphanedNodesPercent/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100"};
if(vErrors === null){
vErrors = [err110];
}
else {
vErrors.push(err110);
}
errors++;
}
if(data42 < 0 || isNaN(data42)){
const err111 = {instancePath:instancePath+"/pods/safety/maxOrphanedNodesPercent",schemaPath:"#/properties/pods/properties/safety/properties/maxOrphanedNodesPercent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err111];
}
else {
vErrors.push(err111);
}
errors++;
}
}
let data43 = data40.holdAbove;
if(!((typeof data43 == "number") && (!(data43 % 1) && !isNaN(data43)))){
const err112 = {instancePath:instancePath+"/pods/safety/holdAbove",schemaPath:"#/properties/pods/properties/safety/properties/holdAbove/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err112];
}
else {
vErrors.push(err112);
}
errors++;
}
if(typeof data43 == "number"){
if(data43 > 1000000 || isNaN(data43)){
const err113 = {instancePath:instancePath+"/pods/safety/holdAbove",schemaPath:"#/properties/pods/properties/safety/properties/holdAbove/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"};
if(vErrors === null){
vErrors = [err113];
}
else {
vErrors.push(err113);
}
errors++;
}
if(data43 < 0 || isNaN(data43)){
const err114 = {instancePath:instancePath+"/pods/safety/holdAbove",schemaPath:"#/properties/pods/properties/safety/properties/holdAbove/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err114];
}
else {
vErrors.push(err114);
}
errors++;
}
}
let data44 = data40.holdFor;
if(typeof data44 === "string"){
if(func2(data44) > 32){
const err115 = {instancePath:instancePath+"/pods/safety/holdFor",schemaPath:"#/properties/pods/properties/safety/properties/holdFor/maxLength",keyword:"maxLength",params:{limit: 32},message:"must NOT have more than 32 characters"};
if(vErrors === null){
vErrors = [err115];
}
else {
vErrors.push(err115);
}
errors++;
}
if(func2(data44) < 2){
const err116 = {instancePath:instancePath+"/pods/safety/holdFor",schemaPath:"#/properties/pods/properties/safety/properties/holdFor/minLength",keyword:"minLength",params:{limit: 2},message:"must NOT have fewer than 2 characters"};
if(vErrors === null){
vErrors = [err116];
}
else {
vErrors.push(err116);
}
errors++;
}
if(!pattern7.test(data44)){
const err117 = {instancePath:instancePath+"/pods/safety/holdFor",schemaPath:"#/properties/pods/properties/safety/properties/holdFor/pattern",keyword:"pattern",params:{pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"},message:"must match pattern \""+"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"+"\""};
if(vErrors === null){
vErrors = [err117];
}
else {
vErrors.push(err117);
}
errors++;
}
}
else {
const err118 = {instancePath:instancePath+"/pods/safety/holdFor",schemaPath:"#/properties/pods/properties/safety/properties/holdFor/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err118];
}
else {
vErrors.push(err118);
}
errors++;
}
}
else {
const err119 = {instancePath:instancePath+"/pods/safety",schemaPath:"#/properties/pods/properties/safety/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err119];
}
else {
vErrors.push(err119);
}
errors++;
}
}
else {
const err120 = {instancePath:instancePath+"/pods",schemaPath:"#/properties/pods/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err120];
}
else {
vErrors.push(err120);
}
errors++;
}
}
if(data.nodes !== undefined){
let data45 = data.nodes;
if(data45 && typeof data45 == "object" && !Array.isArray(data45)){
if(data45.nodeSelector === undefined){
data45.nodeSelector = {};
}
if(data45.excludeNamespaces === undefined){
data45.excludeNamespaces = [];
}
for(const key14 in data45){
if(!(((((((key14 === "nodeSelector") || (key14 === "excludeNamespaces")) || (key14 === "imageGC")) || (key14 === "containerGC")) || (key14 === "orphans")) || (key14 === "localStorageEviction")) || (key14 === "nodePressure"))){
const err121 = {instancePath:instancePath+"/nodes",schemaPath:"#/properties/nodes/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key14},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err121];
}
else {
vErrors.push(err121);
}
errors++;
}
}
let data46 = data45.nodeSelector;
if(data46 && typeof data46 == "object" && !Array.isArray(data46)){
for(const key15 in data46){
if(!((key15 === "matchLabels") || (key15 === "matchExpressions"))){
const err122 = {instancePath:instancePath+"/nodes/nodeSelector",schemaPath:"#/properties/nodes/properties/nodeSelector/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key15},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err122];
}
else {
vErrors.push(err122);
}
errors++;
}
}
if(data46.matchLabels !== undefined){
let data47 = data46.matchLabels;
if(data47 && typeof data47 == "object" && !Array.isArray(data47)){
if(Object.keys(data47).length > 32){
const err123 = {instancePath:instancePath+"/nodes/nodeSelector/matchLabels",schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchLabels/maxProperties",keyword:"maxProperties",params:{limit: 32},message:"must NOT have more than 32 properties"};
if(vErrors === null){
vErrors = [err123];
}
else {
vErrors.push(err123);
}
errors++;
}
for(const key16 in data47){
let data48 = data47[key16];
if(typeof data48 === "string"){
if(func2(data48) > 63){
const err124 = {instancePath:instancePath+"/nodes/nodeSelector/matchLabels/" + key16.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchLabels/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 63},message:"must NOT have more than 63 characters"};
if(vErrors === null){
vErrors = [err124];
}
else {
vErrors.push(err124);
}
errors++;
}
if(!pattern0.test(data48)){
const err125 = {instancePath:instancePath+"/nodes/nodeSelector/matchLabels/" + key16.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchLabels/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"},message:"must match pattern \""+"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"+"\""};
if(vErrors === null){
vErrors = [err125];
}
else {
vErrors.push(err125);
}
errors++;
}
}
else {
const err126 = {instancePath:instancePath+"/nodes/nodeSelector/matchLabels/" + key16.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchLabels/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err126];
}
else {
vErrors.push(err126);
}
errors++;
}
}
}
else {
const err127 = {instancePath:instancePath+"/nodes/nodeSelector/matchLabels",schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchLabels/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err127];
}
else {
vErrors.push(err127);
}
errors++;
}
}
if(data46.matchExpressions !== undefined){
let data49 = data46.matchExpressions;
if(Array.isArray(data49)){
if(data49.length > 32){
const err128 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions",schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/maxItems",keyword:"maxItems",params:{limit: 32},message:"must NOT have more than 32 items"};
if(vErrors === null){
vErrors = [err128];
}
else {
vErrors.push(err128);
}
errors++;
}
const len6 = data49.length;
for(let i7=0; i7<len6; i7++){
let data50 = data49[i7];
if(data50 && typeof data50 == "object" && !Array.isArray(data50)){
if(data50.key === undefined){
const err129 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions/" + i7,schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/items/required",keyword:"required",params:{missingProperty: "key"},message:"must have required property '"+"key"+"'"};
if(vErrors === null){
vErrors = [err129];
}
else {
vErrors.push(err129);
}
errors++;
}
if(data50.operator === undefined){
const err130 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions/" + i7,schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/items/required",keyword:"required",params:{missingProperty: "operator"},message:"must have required property '"+"operator"+"'"};
if(vErrors === null){
vErrors = [err130];
}
else {
vErrors.push(err130);
}
errors++;
}
for(const key17 in data50){
if(!(((key17 === "key") || (key17 === "operator")) || (key17 === "values"))){
const err131 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions/" + i7,schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key17},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err131];
}
else {
vErrors.push(err131);
}
errors++;
}
}
if(data50.key !== undefined){
let data51 = data50.key;
if(typeof data51 === "string"){
if(func2(data51) > 317){
const err132 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions/" + i7+"/key",schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/items/properties/key/maxLength",keyword:"maxLength",params:{limit: 317},message:"must NOT have more than 317 characters"};
if(vErrors === null){
vErrors = [err132];
}
else {
vErrors.push(err132);
}
errors++;
}
if(func2(data51) < 1){
const err133 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions/" + i7+"/key",schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/items/properties/key/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err133];
}
else {
vErrors.push(err133);
}
errors++;
}
if(!pattern1.test(data51)){
const err134 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions/" + i7+"/key",schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/items/properties/key/pattern",keyword:"pattern",params:{pattern: "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"},message:"must match pattern \""+"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"+"\""};
if(vErrors === null){
vErrors = [err134];
}
else {
vErrors.push(err134);
}
errors++;
}
}
else {
const err135 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions/" + i7+"/key",schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/items/properties/key/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err135];
}
else {
vErrors.push(err135);
}
errors++;
}
}
if(data50.operator !== undefined){
let data52 = data50.operator;
if(typeof data52 !== "string"){
const err136 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions/" + i7+"/operator",schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/items/properties/operator/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err136];
}
else {
vErrors.push(err136);
}
errors++;
}
if(!((((data52 === "In") || (data52 === "NotIn")) || (data52 === "Exists")) || (data52 === "DoesNotExist"))){
const err137 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions/" + i7+"/operator",schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/items/properties/operator/enum",keyword:"enum",params:{allowedValues: schema11.properties.nodes.properties.nodeSelector.properties.matchExpressions.items.properties.operator.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err137];
}
else {
vErrors.push(err137);
}
errors++;
}
}
if(data50.values !== undefined){
let data53 = data50.values;
if(Array.isArray(data53)){
if(data53.length > 64){
const err138 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions/" + i7+"/values",schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/items/properties/values/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"};
if(vErrors === null){
vErrors = [err138];
}
else {
vErrors.push(err138);
}
errors++;
}
const len7 = data53.length;
for(let i8=0; i8<len7; i8++){
let data54 = data53[i8];
if(typeof data54 === "string"){
if(func2(data54) > 63){
const err139 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions/" + i7+"/values/" + i8,schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/items/properties/values/items/maxLength",keyword:"maxLength",params:{limit: 63},message:"must NOT have more than 63 characters"};
if(vErrors === null){
vErrors = [err139];
}
else {
vErrors.push(err139);
}
errors++;
}
if(!pattern0.test(data54)){
const err140 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions/" + i7+"/values/" + i8,schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/items/properties/values/items/pattern",keyword:"pattern",params:{pattern: "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"},message:"must match pattern \""+"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"+"\""};
if(vErrors === null){
vErrors = [err140];
}
else {
vErrors.push(err140);
}
errors++;
}
}
else {
const err141 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions/" + i7+"/values/" + i8,schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/items/properties/values/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err141];
}
else {
vErrors.push(err141);
}
errors++;
}
}
}
else {
const err142 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions/" + i7+"/values",schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/items/properties/values/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err142];
}
else {
vErrors.push(err142);
}
errors++;
}
}
}
else {
const err143 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions/" + i7,schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err143];
}
else {
vErrors.push(err143);
}
errors++;
}
}
}
else {
const err144 = {instancePath:instancePath+"/nodes/nodeSelector/matchExpressions",schemaPath:"#/properties/nodes/properties/nodeSelector/properties/matchExpressions/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err144];
}
else {
vErrors.push(err144);
}
errors++;
}
}
}
else {
const err145 = {instancePath:instancePath+"/nodes/nodeSelector",schemaPath:"#/properties/nodes/properties/nodeSelector/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err145];
}
else {
vErrors.push(err145);
}
errors++;
}
let data55 = data45.excludeNamespaces;
if(Array.isArray(data55)){
if(data55.length > 256){
const err146 = {instancePath:instancePath+"/nodes/excludeNamespaces",schemaPath:"#/properties/nodes/properties/excludeNamespaces/maxItems",keyword:"maxItems",params:{limit: 256},message:"must NOT have more than 256 items"};
if(vErrors === null){
vErrors = [err146];
}
else {
vErrors.push(err146);
}
errors++;
}
const len8 = data55.length;
for(let i9=0; i9<len8; i9++){
let data56 = data55[i9];
if(typeof data56 === "string"){
if(func2(data56) > 63){
const err147 = {instancePath:instancePath+"/nodes/excludeNamespaces/" + i9,schemaPath:"#/properties/nodes/properties/excludeNamespaces/items/maxLength",keyword:"maxLength",params:{limit: 63},message:"must NOT have more than 63 characters"};
if(vErrors === null){
vErrors = [err147];
}
else {
vErrors.push(err147);
}
errors++;
}
if(func2(data56) < 1){
const err148 = {instancePath:instancePath+"/nodes/excludeNamespaces/" + i9,schemaPath:"#/properties/nodes/properties/excludeNamespaces/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err148];
}
else {
vErrors.push(err148);
}
errors++;
}
if(!pattern3.test(data56)){
const err149 = {instancePath:instancePath+"/nodes/excludeNamespaces/" + i9,schemaPath:"#/properties/nodes/properties/excludeNamespaces/items/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"+"\""};
if(vErrors === null){
vErrors = [err149];
}
else {
vErrors.push(err149);
}
errors++;
}
}
else {
const err150 = {instancePath:instancePath+"/nodes/excludeNamespaces/" + i9,schemaPath:"#/properties/nodes/properties/excludeNamespaces/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err150];
}
else {
vErrors.push(err150);
}
errors++;
}
}
let i10 = data55.length;
let j1;
if(i10 > 1){
const indices1 = {};
for(;i10--;){
let item1 = data55[i10];
if(typeof item1 !== "string"){
continue;
}
if(typeof indices1[item1] == "number"){
j1 = indices1[item1];
const err151 = {instancePath:instancePath+"/nodes/excludeNamespaces",schemaPath:"#/properties/nodes/properties/excludeNamespaces/uniqueItems",keyword:"uniqueItems",params:{i: i10, j: j1},message:"must NOT have duplicate items (items ## "+j1+" and "+i10+" are identical)"};
if(vErrors === null){
vErrors = [err151];
}
else {
vErrors.push(err151);
}
errors++;
break;
}
indices1[item1] = i10;
}
}
}
else {
const err152 = {instancePath:instancePath+"/nodes/excludeNamespaces",schemaPath:"#/properties/nodes/properties/excludeNamespaces/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err152];
}
else {
vErrors.push(err152);
}
errors++;
}
if(data45.imageGC !== undefined){
let data57 = data45.imageGC;
if(data57 && typeof data57 == "object" && !Array.isArray(data57)){
if(data57.highThresholdPercent === undefined){
data57.highThresholdPercent = 85;
}
if(data57.lowThresholdPercent === undefined){
data57.lowThresholdPercent = 80;
}
if(data57.minimumAge === undefined){
data57.minimumAge = "2m";
}
if(data57.maximumAge === undefined){
data57.maximumAge = "0s";
}
if(data57.maximumAgeByImage === undefined){
data57.maximumAgeByImage = [];
}
if(data57.keep === undefined){
data57.keep = [];
}
if(data57.kubeletHighThresholdPercent === undefined){
data57.kubeletHighThresholdPercent = 85;
}
if(data57.maxImagesPerPass === undefined){
data57.maxImagesPerPass = 0;
}
if(data57.holdAbove === undefined){
data57.holdAbove = 10;
}
if(data57.holdFor === undefined){
data57.holdFor = "5m";
}
if(data57.repullBackoff === undefined){
data57.repullBackoff = true;
}
for(const key18 in data57){
if(!(func29.call(schema11.properties.nodes.properties.imageGC.properties, key18))){
const err153 = {instancePath:instancePath+"/nodes/imageGC",schemaPath:"#/properties/nodes/properties/imageGC/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key18},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err153];
}
else {
vErrors.push(err153);
}
errors++;
}
}
let data58 = data57.highThresholdPercent;
if(!((typeof data58 == "number") && (!(data58 % 1) && !isNaN(data58)))){
const err154 = {instancePath:instancePath+"/nodes/imageGC/highThresholdPercent",schemaPath:"#/properties/nodes/properties/imageGC/properties/highThresholdPercent/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err154];
}
else {
vErrors.push(err154);
}
errors++;
}
if(typeof data58 == "number"){
if(data58 > 100 || isNaN(data58)){
const err155 = {instancePath:instancePath+"/nodes/imageGC/highThresholdPercent",schemaPath:"#/properties/nodes/properties/imageGC/properties/highThresholdPercent/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100"};
if(vErrors === null){
vErrors = [err155];
}
else {
vErrors.push(err155);
}
errors++;
}
if(data58 < 0 || isNaN(data58)){
const err156 = {instancePath:instancePath+"/nodes/imageGC/highThresholdPercent",schemaPath:"#/properties/nodes/properties/imageGC/properties/highThresholdPercent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err156];
}
else {
vErrors.push(err156);
}
errors++;
}
}
let data59 = data57.lowThresholdPercent;
if(!((typeof data59 == "number") && (!(data59 % 1) && !isNaN(data59)))){
const err157 = {instancePath:instancePath+"/nodes/imageGC/lowThresholdPercent",schemaPath:"#/properties/nodes/properties/imageGC/properties/lowThresholdPercent/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err157];
}
else {
vErrors.push(err157);
}
errors++;
}
if(typeof data59 == "number"){
if(data59 > 100 || isNaN(data59)){
const err158 = {instancePath:instancePath+"/nodes/imageGC/lowThresholdPercent",schemaPath:"#/properties/nodes/properties/imageGC/properties/lowThresholdPercent/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100"};
if(vErrors === null){
vErrors = [err158];
}
else {
vErrors.push(err158);
}
errors++;
}
if(data59 < 0 || isNaN(data59)){
const err159 = {instancePath:instancePath+"/nodes/imageGC/lowThresholdPercent",schemaPath:"#/properties/nodes/properties/imageGC/properties/lowThresholdPercent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err159];
}
else {
vErrors.push(err159);
}
errors++;
}
}
if(data57.inodes !== undefined){
let data60 = data57.inodes;
if(data60 && typeof data60 == "object" && !Array.isArray(data60)){
if(data60.highThresholdPercent === undefined){
data60.highThresholdPercent = 85;
}
if(data60.lowThresholdPercent === undefined){
data60.lowThresholdPercent = 80;
}
for(const key19 in data60){
if(!((key19 === "highThresholdPercent") || (key19 === "lowThresholdPercent"))){
const err160 = {instancePath:instancePath+"/nodes/imageGC/inodes",schemaPath:"#/properties/nodes/properties/imageGC/properties/inodes/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key19},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err160];
}
else {
vErrors.push(err160);
}
errors++;
}
}
let data61 = data60.highThresholdPercent;
if(!((typeof data61 == "number") && (!(data61 % 1) && !isNaN(data61)))){
const err161 = {instancePath:instancePath+"/nodes/imageGC/inodes/highThresholdPercent",schemaPath:"#/properties/nodes/properties/imageGC/properties/inodes/properties/highThresholdPercent/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err161];
}
else {
vErrors.push(err161);
}
errors++;
}
if(typeof data61 == "number"){
if(data61 > 100 || isNaN(data61)){
const err162 = {instancePath:instancePath+"/nodes/imageGC/inodes/highThresholdPercent",schemaPath:"#/properties/nodes/properties/imageGC/properties/inodes/properties/highThresholdPercent/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100"};
if(vErrors === null){
vErrors = [err162];
}
else {
vErrors.push(err162);
}
errors++;
}
if(data61 < 0 || isNaN(data61)){
const err163 = {instancePath:instancePath+"/nodes/imageGC/inodes/highThresholdPercent",schemaPath:"#/properties/nodes/properties/imageGC/properties/inodes/properties/highThresholdPercent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err163];
}
else {
vErrors.push(err163);
}
errors++;
}
}
let data62 = data60.lowThresholdPercent;
if(!((typeof data62 == "number") && (!(data62 % 1) && !isNaN(data62)))){
const err164 = {instancePath:instancePath+"/nodes/imageGC/inodes/lowThresholdPercent",schemaPath:"#/properties/nodes/properties/imageGC/properties/inodes/properties/lowThresholdPercent/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err164];
}
else {
vErrors.push(err164);
}
errors++;
}
if(typeof data62 == "number"){
if(data62 > 100 || isNaN(data62)){
const err165 = {instancePath:instancePath+"/nodes/imageGC/inodes/lowThresholdPercent",schemaPath:"#/properties/nodes/properties/imageGC/properties/inodes/properties/lowThresholdPercent/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100"};
if(vErrors === null){
vErrors = [err165];
}
else {
vErrors.push(err165);
}
errors++;
}
if(data62 < 0 || isNaN(data62)){
const err166 = {instancePath:instancePath+"/nodes/imageGC/inodes/lowThresholdPercent",schemaPath:"#/properties/nodes/properties/imageGC/properties/inodes/properties/lowThresholdPercent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err166];
}
else {
vErrors.push(err166);
}
errors++;
}
}
}
else {
const err167 = {instancePath:instancePath+"/nodes/imageGC/inodes",schemaPath:"#/properties/nodes/properties/imageGC/properties/inodes/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err167];
}
else {
vErrors.push(err167);
}
errors++;
}
}
let data63 = data57.minimumAge;
if(typeof data63 === "string"){
if(func2(data63) > 32){
const err168 = {instancePath:instancePath+"/nodes/imageGC/minimumAge",schemaPath:"#/properties/nodes/properties/imageGC/properties/minimumAge/maxLength",keyword:"maxLength",params:{limit: 32},message:"must NOT have more than 32 characters"};
if(vErrors === null){
vErrors = [err168];
}
else {
vErrors.push(err168);
}
errors++;
}
if(func2(data63) < 2){
const err169 = {instancePath:instancePath+"/nodes/imageGC/minimumAge",schemaPath:"#/properties/nodes/properties/imageGC/properties/minimumAge/minLength",keyword:"minLength",params:{limit: 2},message:"must NOT have fewer than 2 characters"};
if(vErrors === null){
vErrors = [err169];
}
else {
vErrors.push(err169);
}
errors++;
}
if(!pattern7.test(data63)){
const err170 = {instancePath:instancePath+"/nodes/imageGC/minimumAge",schemaPath:"#/properties/nodes/properties/imageGC/properties/minimumAge/pattern",keyword:"pattern",params:{pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"},message:"must match pattern \""+"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"+"\""};
if(vErrors === null){
vErrors = [err170];
}
else {
vErrors.push(err170);
}
errors++;
}
}
else {
const err171 = {instancePath:instancePath+"/nodes/imageGC/minimumAge",schemaPath:"#/properties/nodes/properties/imageGC/properties/minimumAge/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err171];
}
else {
vErrors.push(err171);
}
errors++;
}
let data64 = data57.maximumAge;
if(typeof data64 === "string"){
if(func2(data64) > 32){
const err172 = {instancePath:instancePath+"/nodes/imageGC/maximumAge",schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAge/maxLength",keyword:"maxLength",params:{limit: 32},message:"must NOT have more than 32 characters"};
if(vErrors === null){
vErrors = [err172];
}
else {
vErrors.push(err172);
}
errors++;
}
if(func2(data64) < 2){
const err173 = {instancePath:instancePath+"/nodes/imageGC/maximumAge",schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAge/minLength",keyword:"minLength",params:{limit: 2},message:"must NOT have fewer than 2 characters"};
if(vErrors === null){
vErrors = [err173];
}
else {
vErrors.push(err173);
}
errors++;
}
if(!pattern7.test(data64)){
const err174 = {instancePath:instancePath+"/nodes/imageGC/maximumAge",schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAge/pattern",keyword:"pattern",params:{pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"},message:"must match pattern \""+"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"+"\""};
if(vErrors === null){
vErrors = [err174];
}
else {
vErrors.push(err174);
}
errors++;
}
}
else {
const err175 = {instancePath:instancePath+"/nodes/imageGC/maximumAge",schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAge/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err175];
}
else {
vErrors.push(err175);
}
errors++;
}
let data65 = data57.maximumAgeByImage;
if(Array.isArray(data65)){
if(data65.length > 64){
const err176 = {instancePath:instancePath+"/nodes/imageGC/maximumAgeByImage",schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAgeByImage/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"};
if(vErrors === null){
vErrors = [err176];
}
else {
vErrors.push(err176);
}
errors++;
}
const len9 = data65.length;
for(let i11=0; i11<len9; i11++){
let data66 = data65[i11];
if(data66 && typeof data66 == "object" && !Array.isArray(data66)){
if(data66.image === undefined){
const err177 = {instancePath:instancePath+"/nodes/imageGC/maximumAgeByImage/" + i11,schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAgeByImage/items/required",keyword:"required",params:{missingProperty: "image"},message:"must have required property '"+"image"+"'"};
if(vErrors === null){
vErrors = [err177];
}
else {
vErrors.push(err177);
}
errors++;
}
if(data66.maximumAge === undefined){
const err178 = {instancePath:instancePath+"/nodes/imageGC/maximumAgeByImage/" + i11,schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAgeByImage/items/required",keyword:"required",params:{missingProperty: "maximumAge"},message:"must have required property '"+"maximumAge"+"'"};
if(vErrors === null){
vErrors = [err178];
}
else {
vErrors.push(err178);
}
errors++;
}
for(const key20 in data66){
if(!((key20 === "image") || (key20 === "maximumAge"))){
const err179 = {instancePath:instancePath+"/nodes/imageGC/maximumAgeByImage/" + i11,schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAgeByImage/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key20},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err179];
}
else {
vErrors.push(err179);
}
errors++;
}
}
if(data66.image !== undefined){
let data67 = data66.image;
if(typeof data67 === "string"){
if(func2(data67) > 512){
const err180 = {instancePath:instancePath+"/nodes/imageGC/maximumAgeByImage/" + i11+"/image",schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAgeByImage/items/properties/image/maxLength",keyword:"maxLength",params:{limit: 512},message:"must NOT have more than 512 characters"};
if(vErrors === null){
vErrors = [err180];
}
else {
vErrors.push(err180);
}
errors++;
}
if(func2(data67) < 1){
const err181 = {instancePath:instancePath+"/nodes/imageGC/maximumAgeByImage/" + i11+"/image",schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAgeByImage/items/properties/image/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err181];
}
else {
vErrors.push(err181);
}
errors++;
}
}
else {
const err182 = {instancePath:instancePath+"/nodes/imageGC/maximumAgeByImage/" + i11+"/image",schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAgeByImage/items/properties/image/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err182];
}
else {
vErrors.push(err182);
}
errors++;
}
}
if(data66.maximumAge !== undefined){
let data68 = data66.maximumAge;
if(typeof data68 === "string"){
if(func2(data68) > 32){
const err183 = {instancePath:instancePath+"/nodes/imageGC/maximumAgeByImage/" + i11+"/maximumAge",schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAgeByImage/items/properties/maximumAge/maxLength",keyword:"maxLength",params:{limit: 32},message:"must NOT have more than 32 characters"};
if(vErrors === null){
vErrors = [err183];
}
else {
vErrors.push(err183);
}
errors++;
}
if(func2(data68) < 2){
const err184 = {instancePath:instancePath+"/nodes/imageGC/maximumAgeByImage/" + i11+"/maximumAge",schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAgeByImage/items/properties/maximumAge/minLength",keyword:"minLength",params:{limit: 2},message:"must NOT have fewer than 2 characters"};
if(vErrors === null){
vErrors = [err184];
}
else {
vErrors.push(err184);
}
errors++;
}
if(!pattern7.test(data68)){
const err185 = {instancePath:instancePath+"/nodes/imageGC/maximumAgeByImage/" + i11+"/maximumAge",schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAgeByImage/items/properties/maximumAge/pattern",keyword:"pattern",params:{pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"},message:"must match pattern \""+"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"+"\""};
if(vErrors === null){
vErrors = [err185];
}
else {
vErrors.push(err185);
}
errors++;
}
}
else {
const err186 = {instancePath:instancePath+"/nodes/imageGC/maximumAgeByImage/" + i11+"/maximumAge",schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAgeByImage/items/properties/maximumAge/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err186];
}
else {
vErrors.push(err186);
}
errors++;
}
}
}
else {
const err187 = {instancePath:instancePath+"/nodes/imageGC/maximumAgeByImage/" + i11,schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAgeByImage/items/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err187];
}
else {
vErrors.push(err187);
}
errors++;
}
}
}
else {
const err188 = {instancePath:instancePath+"/nodes/imageGC/maximumAgeByImage",schemaPath:"#/properties/nodes/properties/imageGC/properties/maximumAgeByImage/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err188];
}
else {
vErrors.push(err188);
}
errors++;
}
let data69 = data57.keep;
if(Array.isArray(data69)){
if(data69.length > 256){
const err189 = {instancePath:instancePath+"/nodes/imageGC/keep",schemaPath:"#/properties/nodes/properties/imageGC/properties/keep/maxItems",keyword:"maxItems",params:{limit: 256},message:"must NOT have more than 256 items"};
if(vErrors === null){
vErrors = [err189];
}
else {
vErrors.push(err189);
}
errors++;
}
const len10 = data69.length;
for(let i12=0; i12<len10; i12++){
let data70 = data69[i12];
if(typeof data70 === "string"){
if(func2(data70) > 512){
const err190 = {instancePath:instancePath+"/nodes/imageGC/keep/" + i12,schemaPath:"#/properties/nodes/properties/imageGC/properties/keep/items/maxLength",keyword:"maxLength",params:{limit: 512},message:"must NOT have more than 512 characters"};
if(vErrors === null){
vErrors = [err190];
}
else {
vErrors.push(err190);
}
errors++;
}
if(func2(data70) < 1){
const err191 = {instancePath:instancePath+"/nodes/imageGC/keep/" + i12,schemaPath:"#/properties/nodes/properties/imageGC/properties/keep/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err191];
}
else {
vErrors.push(err191);
}
errors++;
}
}
else {
const err192 = {instancePath:instancePath+"/nodes/imageGC/keep/" + i12,schemaPath:"#/properties/nodes/properties/imageGC/properties/keep/items/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err192];
}
else {
vErrors.push(err192);
}
errors++;
}
}
let i13 = data69.length;
let j2;
if(i13 > 1){
const indices2 = {};
for(;i13--;){
let item2 = data69[i13];
if(typeof item2 !== "string"){
continue;
}
if(typeof indices2[item2] == "number"){
j2 = indices2[item2];
const err193 = {instancePath:instancePath+"/nodes/imageGC/keep",schemaPath:"#/properties/nodes/properties/imageGC/properties/keep/uniqueItems",keyword:"uniqueItems",params:{i: i13, j: j2},message:"must NOT have duplicate items (items ## "+j2+" and "+i13+" are identical)"};
if(vErrors === null){
vErrors = [err193];
}
else {
vErrors.push(err193);
}
errors++;
break;
}
indices2[item2] = i13;
}
}
}
else {
const err194 = {instancePath:instancePath+"/nodes/imageGC/keep",schemaPath:"#/properties/nodes/properties/imageGC/properties/keep/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err194];
}
else {
vErrors.push(err194);
}
errors++;
}
let data71 = data57.kubeletHighThresholdPercent;
if(!((typeof data71 == "number") && (!(data71 % 1) && !isNaN(data71)))){
const err195 = {instancePath:instancePath+"/nodes/imageGC/kubeletHighThresholdPercent",schemaPath:"#/properties/nodes/properties/imageGC/properties/kubeletHighThresholdPercent/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err195];
}
else {
vErrors.push(err195);
}
errors++;
}
if(typeof data71 == "number"){
if(data71 > 100 || isNaN(data71)){
const err196 = {instancePath:instancePath+"/nodes/imageGC/kubeletHighThresholdPercent",schemaPath:"#/properties/nodes/properties/imageGC/properties/kubeletHighThresholdPercent/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100"};
if(vErrors === null){
vErrors = [err196];
}
else {
vErrors.push(err196);
}
errors++;
}
if(data71 < 0 || isNaN(data71)){
const err197 = {instancePath:instancePath+"/nodes/imageGC/kubeletHighThresholdPercent",schemaPath:"#/properties/nodes/properties/imageGC/properties/kubeletHighThresholdPercent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err197];
}
else {
vErrors.push(err197);
}
errors++;
}
}
let data72 = data57.maxImagesPerPass;
if(!((typeof data72 == "number") && (!(data72 % 1) && !isNaN(data72)))){
const err198 = {instancePath:instancePath+"/nodes/imageGC/maxImagesPerPass",schemaPath:"#/properties/nodes/properties/imageGC/properties/maxImagesPerPass/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err198];
}
else {
vErrors.push(err198);
}
errors++;
}
if(typeof data72 == "number"){
if(data72 > 1000000 || isNaN(data72)){
const err199 = {instancePath:instancePath+"/nodes/imageGC/maxImagesPerPass",schemaPath:"#/properties/nodes/properties/imageGC/properties/maxImagesPerPass/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"};
if(vErrors === null){
vErrors = [err199];
}
else {
vErrors.push(err199);
}
errors++;
}
if(data72 < 0 || isNaN(data72)){
const err200 = {instancePath:instancePath+"/nodes/imageGC/maxImagesPerPass",schemaPath:"#/properties/nodes/properties/imageGC/properties/maxImagesPerPass/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err200];
}
else {
vErrors.push(err200);
}
errors++;
}
}
let data73 = data57.holdAbove;
if(!((typeof data73 == "number") && (!(data73 % 1) && !isNaN(data73)))){
const err201 = {instancePath:instancePath+"/nodes/imageGC/holdAbove",schemaPath:"#/properties/nodes/properties/imageGC/properties/holdAbove/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err201];
}
else {
vErrors.push(err201);
}
errors++;
}
if(typeof data73 == "number"){
if(data73 > 1000000 || isNaN(data73)){
const err202 = {instancePath:instancePath+"/nodes/imageGC/holdAbove",schemaPath:"#/properties/nodes/properties/imageGC/properties/holdAbove/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"};
if(vErrors === null){
vErrors = [err202];
}
else {
vErrors.push(err202);
}
errors++;
}
if(data73 < 0 || isNaN(data73)){
const err203 = {instancePath:instancePath+"/nodes/imageGC/holdAbove",schemaPath:"#/properties/nodes/properties/imageGC/properties/holdAbove/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};
if(vErrors === null){
vErrors = [err203];
}
else {
vErrors.push(err203);
}
errors++;
}
}
let data74 = data57.holdFor;
if(typeof data74 === "string"){
if(func2(data74) > 32){
const err204 = {instancePath:instancePath+"/nodes/imageGC/holdFor",schemaPath:"#/properties/nodes/properties/imageGC/properties/holdFor/maxLength",keyword:"maxLength",params:{limit: 32},message:"must NOT have more than 32 characters"};
if(vErrors === null){
vErrors = [err204];
}
else {
vErrors.push(err204);
}
errors++;
}
if(func2(data74) < 2){
const err205 = {instancePath:instancePath+"/nodes/imageGC/holdFor",schemaPath:"#/properties/nodes/properties/imageGC/properties/holdFor/minLength",keyword:"minLength",params:{limit: 2},message:"must NOT have fewer than 2 characters"};
if(vErrors === null){
vErrors = [err205];
}
else {
vErrors.push(err205);
}
errors++;
}
if(!pattern7.test(data74)){
const err206 = {instancePath:instancePath+"/nodes/imageGC/holdFor",schemaPath:"#/properties/nodes/properties/imageGC/properties/holdFor/pattern",keyword:"pattern",params:{pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"},message:"must match pattern \""+"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"+"\""};
if(vErrors === null){
vErrors = [err206];
}
else {
vErrors.push(err206);
}
errors++;
}
}
else {
const err207 = {instancePath:instancePath+"/nodes/imageGC/holdFor",schemaPath:"#/properties/nodes/properties/imageGC/properties/holdFor/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err207];
}
else {
vErrors.push(err207);
}
errors++;
}
if(typeof data57.repullBackoff !== "boolean"){
const err208 = {instancePath:instancePath+"/nodes/imageGC/repullBackoff",schemaPath:"#/properties/nodes/properties/imageGC/properties/repullBackoff/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err208];
}
else {
vErrors.push(err208);
}
errors++;
}
}
else {
const err209 = {instancePath:instancePath+"/nodes/imageGC",schemaPath:"#/properties/nodes/properties/imageGC/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err209];
}
else {
vErrors.push(err209);
}
errors++;
}
}
if(data45.containerGC !== undefined){
let data76 = data45.containerGC;
if(data76 && typeof data76 == "object" && !Array.isArray(data76)){
if(data76.minimumAge === undefined){
data76.minimumAge = "0s";
}
if(data76.maxPerPodContainer === undefined){
data76.maxPerPodContainer = 1;
}
if(data76.maxContainers === undefined){
data76.maxContainers = -1;
}
if(data76.sandboxes === undefined){
data76.sandboxes = true;
}
for(const key21 in data76){
if(!(((((key21 === "minimumAge") || (key21 === "maxPerPodContainer")) || (key21 === "maxContainers")) || (key21 === "sandboxes")) || (key21 === "logs"))){
const err210 = {instancePath:instancePath+"/nodes/containerGC",schemaPath:"#/properties/nodes/properties/containerGC/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key21},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err210];
}
else {
vErrors.push(err210);
}
errors++;
}
}
let data77 = data76.minimumAge;
if(typeof data77 === "string"){
if(func2(data77) > 32){
const err211 = {instancePath:instancePath+"/nodes/containerGC/minimumAge",schemaPath:"#/properties/nodes/properties/containerGC/properties/minimumAge/maxLength",keyword:"maxLength",params:{limit: 32},message:"must NOT have more than 32 characters"};
if(vErrors === null){
vErrors = [err211];
}
else {
vErrors.push(err211);
}
errors++;
}
if(func2(data77) < 2){
const err212 = {instancePath:instancePath+"/nodes/containerGC/minimumAge",schemaPath:"#/properties/nodes/properties/containerGC/properties/minimumAge/minLength",keyword:"minLength",params:{limit: 2},message:"must NOT have fewer than 2 characters"};
if(vErrors === null){
vErrors = [err212];
}
else {
vErrors.push(err212);
}
errors++;
}
if(!pattern7.test(data77)){
const err213 = {instancePath:instancePath+"/nodes/containerGC/minimumAge",schemaPath:"#/properties/nodes/properties/containerGC/properties/minimumAge/pattern",keyword:"pattern",params:{pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"},message:"must match pattern \""+"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"+"\""};
if(vErrors === null){
vErrors = [err213];
}
else {
vErrors.push(err213);
}
errors++;
}
}
else {
const err214 = {instancePath:instancePath+"/nodes/containerGC/minimumAge",schemaPath:"#/properties/nodes/properties/containerGC/properties/minimumAge/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err214];
}
else {
vErrors.push(err214);
}
errors++;
}
let data78 = data76.maxPerPodContainer;
if(!((typeof data78 == "number") && (!(data78 % 1) && !isNaN(data78)))){
const err215 = {instancePath:instancePath+"/nodes/containerGC/maxPerPodContainer",schemaPath:"#/properties/nodes/properties/containerGC/properties/maxPerPodContainer/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err215];
}
else {
vErrors.push(err215);
}
errors++;
}
if(typeof data78 == "number"){
if(data78 > 1000000 || isNaN(data78)){
const err216 = {instancePath:instancePath+"/nodes/containerGC/maxPerPodContainer",schemaPath:"#/properties/nodes/properties/containerGC/properties/maxPerPodContainer/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"};
if(vErrors === null){
vErrors = [err216];
}
else {
vErrors.push(err216);
}
errors++;
}
if(data78 < -1 || isNaN(data78)){
const err217 = {instancePath:instancePath+"/nodes/containerGC/maxPerPodContainer",schemaPath:"#/properties/nodes/properties/containerGC/properties/maxPerPodContainer/minimum",keyword:"minimum",params:{comparison: ">=", limit: -1},message:"must be >= -1"};
if(vErrors === null){
vErrors = [err217];
}
else {
vErrors.push(err217);
}
errors++;
}
}
let data79 = data76.maxContainers;
if(!((typeof data79 == "number") && (!(data79 % 1) && !isNaN(data79)))){
const err218 = {instancePath:instancePath+"/nodes/containerGC/maxContainers",schemaPath:"#/properties/nodes/properties/containerGC/properties/maxContainers/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err218];
}
else {
vErrors.push(err218);
}
errors++;
}
if(typeof data79 == "number"){
if(data79 > 1000000 || isNaN(data79)){
const err219 = {instancePath:instancePath+"/nodes/containerGC/maxContainers",schemaPath:"#/properties/nodes/properties/containerGC/properties/maxContainers/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"};
if(vErrors === null){
vErrors = [err219];
}
else {
vErrors.push(err219);
}
errors++;
}
if(data79 < -1 || isNaN(data79)){
const err220 = {instancePath:instancePath+"/nodes/containerGC/maxContainers",schemaPath:"#/properties/nodes/properties/containerGC/properties/maxContainers/minimum",keyword:"minimum",params:{comparison: ">=", limit: -1},message:"must be >= -1"};
if(vErrors === null){
vErrors = [err220];
}
else {
vErrors.push(err220);
}
errors++;
}
}
if(typeof data76.sandboxes !== "boolean"){
const err221 = {instancePath:instancePath+"/nodes/containerGC/sandboxes",schemaPath:"#/properties/nodes/properties/containerGC/properties/sandboxes/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err221];
}
else {
vErrors.push(err221);
}
errors++;
}
if(data76.logs !== undefined){
let data81 = data76.logs;
if(data81 && typeof data81 == "object" && !Array.isArray(data81)){
if(data81.orphanedDirectories === undefined){
data81.orphanedDirectories = true;
}
if(data81.brokenLinks === undefined){
data81.brokenLinks = true;
}
if(data81.maxRotatedPerContainer === undefined){
data81.maxRotatedPerContainer = -1;
}
if(data81.maxBytesPerPod === undefined){
data81.maxBytesPerPod = "";
}
if(data81.warnBytesPerContainer === undefined){
data81.warnBytesPerContainer = "";
}
for(const key22 in data81){
if(!(((((key22 === "orphanedDirectories") || (key22 === "brokenLinks")) || (key22 === "maxRotatedPerContainer")) || (key22 === "maxBytesPerPod")) || (key22 === "warnBytesPerContainer"))){
const err222 = {instancePath:instancePath+"/nodes/containerGC/logs",schemaPath:"#/properties/nodes/properties/containerGC/properties/logs/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key22},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err222];
}
else {
vErrors.push(err222);
}
errors++;
}
}
if(typeof data81.orphanedDirectories !== "boolean"){
const err223 = {instancePath:instancePath+"/nodes/containerGC/logs/orphanedDirectories",schemaPath:"#/properties/nodes/properties/containerGC/properties/logs/properties/orphanedDirectories/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err223];
}
else {
vErrors.push(err223);
}
errors++;
}
if(typeof data81.brokenLinks !== "boolean"){
const err224 = {instancePath:instancePath+"/nodes/containerGC/logs/brokenLinks",schemaPath:"#/properties/nodes/properties/containerGC/properties/logs/properties/brokenLinks/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err224];
}
else {
vErrors.push(err224);
}
errors++;
}
let data84 = data81.maxRotatedPerContainer;
if(!((typeof data84 == "number") && (!(data84 % 1) && !isNaN(data84)))){
const err225 = {instancePath:instancePath+"/nodes/containerGC/logs/maxRotatedPerContainer",schemaPath:"#/properties/nodes/properties/containerGC/properties/logs/properties/maxRotatedPerContainer/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err225];
}
else {
vErrors.push(err225);
}
errors++;
}
if(typeof data84 == "number"){
if(data84 > 1000000 || isNaN(data84)){
const err226 = {instancePath:instancePath+"/nodes/containerGC/logs/maxRotatedPerContainer",schemaPath:"#/properties/nodes/properties/containerGC/properties/logs/properties/maxRotatedPerContainer/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000000},message:"must be <= 1000000"};
if(vErrors === null){
vErrors = [err226];
}
else {
vErrors.push(err226);
}
errors++;
}
if(data84 < -1 || isNaN(data84)){
const err227 = {instancePath:instancePath+"/nodes/containerGC/logs/maxRotatedPerContainer",schemaPath:"#/properties/nodes/properties/containerGC/properties/logs/properties/maxRotatedPerContainer/minimum",keyword:"minimum",params:{comparison: ">=", limit: -1},message:"must be >= -1"};
if(vErrors === null){
vErrors = [err227];
}
else {
vErrors.push(err227);
}
errors++;
}
}
let data85 = data81.maxBytesPerPod;
if(typeof data85 === "string"){
if(func2(data85) > 24){
const err228 = {instancePath:instancePath+"/nodes/containerGC/logs/maxBytesPerPod",schemaPath:"#/properties/nodes/properties/containerGC/properties/logs/properties/maxBytesPerPod/maxLength",keyword:"maxLength",params:{limit: 24},message:"must NOT have more than 24 characters"};
if(vErrors === null){
vErrors = [err228];
}
else {
vErrors.push(err228);
}
errors++;
}
if(!pattern20.test(data85)){
const err229 = {instancePath:instancePath+"/nodes/containerGC/logs/maxBytesPerPod",schemaPath:"#/properties/nodes/properties/containerGC/properties/logs/properties/maxBytesPerPod/pattern",keyword:"pattern",params:{pattern: "^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$"},message:"must match pattern \""+"^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$"+"\""};
if(vErrors === null){
vErrors = [err229];
}
else {
vErrors.push(err229);
}
errors++;
}
}
else {
const err230 = {instancePath:instancePath+"/nodes/containerGC/logs/maxBytesPerPod",schemaPath:"#/properties/nodes/properties/containerGC/properties/logs/properties/maxBytesPerPod/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err230];
}
else {
vErrors.push(err230);
}
errors++;
}
let data86 = data81.warnBytesPerContainer;
if(typeof data86 === "string"){
if(func2(data86) > 24){
const err231 = {instancePath:instancePath+"/nodes/containerGC/logs/warnBytesPerContainer",schemaPath:"#/properties/nodes/properties/containerGC/properties/logs/properties/warnBytesPerContainer/maxLength",keyword:"maxLength",params:{limit: 24},message:"must NOT have more than 24 characters"};
if(vErrors === null){
vErrors = [err231];
}
else {
vErrors.push(err231);
}
errors++;
}
if(!pattern20.test(data86)){
const err232 = {instancePath:instancePath+"/nodes/containerGC/logs/warnBytesPerContainer",schemaPath:"#/properties/nodes/properties/containerGC/properties/logs/properties/warnBytesPerContainer/pattern",keyword:"pattern",params:{pattern: "^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$"},message:"must match pattern \""+"^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$"+"\""};
if(vErrors === null){
vErrors = [err232];
}
else {
vErrors.push(err232);
}
errors++;
}
}
else {
const err233 = {instancePath:instancePath+"/nodes/containerGC/logs/warnBytesPerContainer",schemaPath:"#/properties/nodes/properties/containerGC/properties/logs/properties/warnBytesPerContainer/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err233];
}
else {
vErrors.push(err233);
}
errors++;
}
}
else {
const err234 = {instancePath:instancePath+"/nodes/containerGC/logs",schemaPath:"#/properties/nodes/properties/containerGC/properties/logs/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err234];
}
else {
vErrors.push(err234);
}
errors++;
}
}
}
else {
const err235 = {instancePath:instancePath+"/nodes/containerGC",schemaPath:"#/properties/nodes/properties/containerGC/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err235];
}
else {
vErrors.push(err235);
}
errors++;
}
}
if(data45.orphans !== undefined){
let data87 = data45.orphans;
if(data87 && typeof data87 == "object" && !Array.isArray(data87)){
if(data87.podCgroups === undefined){
data87.podCgroups = "Report";
}
if(data87.podDirectories === undefined){
data87.podDirectories = "Report";
}
for(const key23 in data87){
if(!((key23 === "podCgroups") || (key23 === "podDirectories"))){
const err236 = {instancePath:instancePath+"/nodes/orphans",schemaPath:"#/properties/nodes/properties/orphans/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key23},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err236];
}
else {
vErrors.push(err236);
}
errors++;
}
}
let data88 = data87.podCgroups;
if(typeof data88 !== "string"){
const err237 = {instancePath:instancePath+"/nodes/orphans/podCgroups",schemaPath:"#/properties/nodes/properties/orphans/properties/podCgroups/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err237];
}
else {
vErrors.push(err237);
}
errors++;
}
if(!((data88 === "Report") || (data88 === "Remove"))){
const err238 = {instancePath:instancePath+"/nodes/orphans/podCgroups",schemaPath:"#/properties/nodes/properties/orphans/properties/podCgroups/enum",keyword:"enum",params:{allowedValues: schema11.properties.nodes.properties.orphans.properties.podCgroups.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err238];
}
else {
vErrors.push(err238);
}
errors++;
}
let data89 = data87.podDirectories;
if(typeof data89 !== "string"){
const err239 = {instancePath:instancePath+"/nodes/orphans/podDirectories",schemaPath:"#/properties/nodes/properties/orphans/properties/podDirectories/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err239];
}
else {
vErrors.push(err239);
}
errors++;
}
if(!((data89 === "Report") || (data89 === "Remove"))){
const err240 = {instancePath:instancePath+"/nodes/orphans/podDirectories",schemaPath:"#/properties/nodes/properties/orphans/properties/podDirectories/enum",keyword:"enum",params:{allowedValues: schema11.properties.nodes.properties.orphans.properties.podDirectories.enum},message:"must be equal to one of the allowed values"};
if(vErrors === null){
vErrors = [err240];
}
else {
vErrors.push(err240);
}
errors++;
}
}
else {
const err241 = {instancePath:instancePath+"/nodes/orphans",schemaPath:"#/properties/nodes/properties/orphans/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err241];
}
else {
vErrors.push(err241);
}
errors++;
}
}
if(data45.localStorageEviction !== undefined){
let data90 = data45.localStorageEviction;
if(data90 && typeof data90 == "object" && !Array.isArray(data90)){
if(data90.maxEvictionsPerMinute === undefined){
data90.maxEvictionsPerMinute = 10;
}
if(data90.warnAtPercent === undefined){
data90.warnAtPercent = [80,95];
}
if(data90.evictAtPercent === undefined){
data90.evictAtPercent = 100;
}
if(data90.respectPodDisruptionBudgets === undefined){
data90.respectPodDisruptionBudgets = true;
}
if(data90.gracePeriodSeconds === undefined){
data90.gracePeriodSeconds = -1;
}
for(const key24 in data90){
if(!((((((key24 === "maxEvictionsPerMinute") || (key24 === "warnAtPercent")) || (key24 === "evictAtPercent")) || (key24 === "respectPodDisruptionBudgets")) || (key24 === "gracePeriodSeconds")) || (key24 === "defaultLimits"))){
const err242 = {instancePath:instancePath+"/nodes/localStorageEviction",schemaPath:"#/properties/nodes/properties/localStorageEviction/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key24},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err242];
}
else {
vErrors.push(err242);
}
errors++;
}
}
let data91 = data90.maxEvictionsPerMinute;
if(!((typeof data91 == "number") && (!(data91 % 1) && !isNaN(data91)))){
const err243 = {instancePath:instancePath+"/nodes/localStorageEviction/maxEvictionsPerMinute",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/maxEvictionsPerMinute/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err243];
}
else {
vErrors.push(err243);
}
errors++;
}
if(typeof data91 == "number"){
if(data91 > 1000 || isNaN(data91)){
const err244 = {instancePath:instancePath+"/nodes/localStorageEviction/maxEvictionsPerMinute",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/maxEvictionsPerMinute/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000},message:"must be <= 1000"};
if(vErrors === null){
vErrors = [err244];
}
else {
vErrors.push(err244);
}
errors++;
}
if(data91 < 1 || isNaN(data91)){
const err245 = {instancePath:instancePath+"/nodes/localStorageEviction/maxEvictionsPerMinute",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/maxEvictionsPerMinute/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err245];
}
else {
vErrors.push(err245);
}
errors++;
}
}
let data92 = data90.warnAtPercent;
if(Array.isArray(data92)){
if(data92.length > 8){
const err246 = {instancePath:instancePath+"/nodes/localStorageEviction/warnAtPercent",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/warnAtPercent/maxItems",keyword:"maxItems",params:{limit: 8},message:"must NOT have more than 8 items"};
if(vErrors === null){
vErrors = [err246];
}
else {
vErrors.push(err246);
}
errors++;
}
const len11 = data92.length;
for(let i14=0; i14<len11; i14++){
let data93 = data92[i14];
if(!((typeof data93 == "number") && (!(data93 % 1) && !isNaN(data93)))){
const err247 = {instancePath:instancePath+"/nodes/localStorageEviction/warnAtPercent/" + i14,schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/warnAtPercent/items/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err247];
}
else {
vErrors.push(err247);
}
errors++;
}
if(typeof data93 == "number"){
if(data93 > 100 || isNaN(data93)){
const err248 = {instancePath:instancePath+"/nodes/localStorageEviction/warnAtPercent/" + i14,schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/warnAtPercent/items/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100"};
if(vErrors === null){
vErrors = [err248];
}
else {
vErrors.push(err248);
}
errors++;
}
if(data93 < 1 || isNaN(data93)){
const err249 = {instancePath:instancePath+"/nodes/localStorageEviction/warnAtPercent/" + i14,schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/warnAtPercent/items/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err249];
}
else {
vErrors.push(err249);
}
errors++;
}
}
}
let i15 = data92.length;
let j3;
if(i15 > 1){
const indices3 = {};
for(;i15--;){
let item3 = data92[i15];
if(!((typeof item3 == "number") && (!(item3 % 1) && !isNaN(item3)))){
continue;
}
if(typeof indices3[item3] == "number"){
j3 = indices3[item3];
const err250 = {instancePath:instancePath+"/nodes/localStorageEviction/warnAtPercent",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/warnAtPercent/uniqueItems",keyword:"uniqueItems",params:{i: i15, j: j3},message:"must NOT have duplicate items (items ## "+j3+" and "+i15+" are identical)"};
if(vErrors === null){
vErrors = [err250];
}
else {
vErrors.push(err250);
}
errors++;
break;
}
indices3[item3] = i15;
}
}
}
else {
const err251 = {instancePath:instancePath+"/nodes/localStorageEviction/warnAtPercent",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/warnAtPercent/type",keyword:"type",params:{type: "array"},message:"must be array"};
if(vErrors === null){
vErrors = [err251];
}
else {
vErrors.push(err251);
}
errors++;
}
let data94 = data90.evictAtPercent;
if(!((typeof data94 == "number") && (!(data94 % 1) && !isNaN(data94)))){
const err252 = {instancePath:instancePath+"/nodes/localStorageEviction/evictAtPercent",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/evictAtPercent/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err252];
}
else {
vErrors.push(err252);
}
errors++;
}
if(typeof data94 == "number"){
if(data94 > 100 || isNaN(data94)){
const err253 = {instancePath:instancePath+"/nodes/localStorageEviction/evictAtPercent",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/evictAtPercent/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100},message:"must be <= 100"};
if(vErrors === null){
vErrors = [err253];
}
else {
vErrors.push(err253);
}
errors++;
}
if(data94 < 1 || isNaN(data94)){
const err254 = {instancePath:instancePath+"/nodes/localStorageEviction/evictAtPercent",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/evictAtPercent/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};
if(vErrors === null){
vErrors = [err254];
}
else {
vErrors.push(err254);
}
errors++;
}
}
if(typeof data90.respectPodDisruptionBudgets !== "boolean"){
const err255 = {instancePath:instancePath+"/nodes/localStorageEviction/respectPodDisruptionBudgets",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/respectPodDisruptionBudgets/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err255];
}
else {
vErrors.push(err255);
}
errors++;
}
let data96 = data90.gracePeriodSeconds;
if(!((typeof data96 == "number") && (!(data96 % 1) && !isNaN(data96)))){
const err256 = {instancePath:instancePath+"/nodes/localStorageEviction/gracePeriodSeconds",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/gracePeriodSeconds/type",keyword:"type",params:{type: "integer"},message:"must be integer"};
if(vErrors === null){
vErrors = [err256];
}
else {
vErrors.push(err256);
}
errors++;
}
if(typeof data96 == "number"){
if(data96 > 604800 || isNaN(data96)){
const err257 = {instancePath:instancePath+"/nodes/localStorageEviction/gracePeriodSeconds",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/gracePeriodSeconds/maximum",keyword:"maximum",params:{comparison: "<=", limit: 604800},message:"must be <= 604800"};
if(vErrors === null){
vErrors = [err257];
}
else {
vErrors.push(err257);
}
errors++;
}
if(data96 < -1 || isNaN(data96)){
const err258 = {instancePath:instancePath+"/nodes/localStorageEviction/gracePeriodSeconds",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/gracePeriodSeconds/minimum",keyword:"minimum",params:{comparison: ">=", limit: -1},message:"must be >= -1"};
if(vErrors === null){
vErrors = [err258];
}
else {
vErrors.push(err258);
}
errors++;
}
}
if(data90.defaultLimits !== undefined){
let data97 = data90.defaultLimits;
if(data97 && typeof data97 == "object" && !Array.isArray(data97)){
if(data97.emptyDir === undefined){
data97.emptyDir = "";
}
if(data97.pod === undefined){
data97.pod = "";
}
if(data97.container === undefined){
data97.container = "";
}
for(const key25 in data97){
if(!(((key25 === "emptyDir") || (key25 === "pod")) || (key25 === "container"))){
const err259 = {instancePath:instancePath+"/nodes/localStorageEviction/defaultLimits",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/defaultLimits/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key25},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err259];
}
else {
vErrors.push(err259);
}
errors++;
}
}
let data98 = data97.emptyDir;
if(typeof data98 === "string"){
if(func2(data98) > 24){
const err260 = {instancePath:instancePath+"/nodes/localStorageEviction/defaultLimits/emptyDir",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/defaultLimits/properties/emptyDir/maxLength",keyword:"maxLength",params:{limit: 24},message:"must NOT have more than 24 characters"};
if(vErrors === null){
vErrors = [err260];
}
else {
vErrors.push(err260);
}
errors++;
}
if(!pattern20.test(data98)){
const err261 = {instancePath:instancePath+"/nodes/localStorageEviction/defaultLimits/emptyDir",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/defaultLimits/properties/emptyDir/pattern",keyword:"pattern",params:{pattern: "^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$"},message:"must match pattern \""+"^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$"+"\""};
if(vErrors === null){
vErrors = [err261];
}
else {
vErrors.push(err261);
}
errors++;
}
}
else {
const err262 = {instancePath:instancePath+"/nodes/localStorageEviction/defaultLimits/emptyDir",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/defaultLimits/properties/emptyDir/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err262];
}
else {
vErrors.push(err262);
}
errors++;
}
let data99 = data97.pod;
if(typeof data99 === "string"){
if(func2(data99) > 24){
const err263 = {instancePath:instancePath+"/nodes/localStorageEviction/defaultLimits/pod",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/defaultLimits/properties/pod/maxLength",keyword:"maxLength",params:{limit: 24},message:"must NOT have more than 24 characters"};
if(vErrors === null){
vErrors = [err263];
}
else {
vErrors.push(err263);
}
errors++;
}
if(!pattern20.test(data99)){
const err264 = {instancePath:instancePath+"/nodes/localStorageEviction/defaultLimits/pod",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/defaultLimits/properties/pod/pattern",keyword:"pattern",params:{pattern: "^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$"},message:"must match pattern \""+"^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$"+"\""};
if(vErrors === null){
vErrors = [err264];
}
else {
vErrors.push(err264);
}
errors++;
}
}
else {
const err265 = {instancePath:instancePath+"/nodes/localStorageEviction/defaultLimits/pod",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/defaultLimits/properties/pod/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err265];
}
else {
vErrors.push(err265);
}
errors++;
}
let data100 = data97.container;
if(typeof data100 === "string"){
if(func2(data100) > 24){
const err266 = {instancePath:instancePath+"/nodes/localStorageEviction/defaultLimits/container",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/defaultLimits/properties/container/maxLength",keyword:"maxLength",params:{limit: 24},message:"must NOT have more than 24 characters"};
if(vErrors === null){
vErrors = [err266];
}
else {
vErrors.push(err266);
}
errors++;
}
if(!pattern20.test(data100)){
const err267 = {instancePath:instancePath+"/nodes/localStorageEviction/defaultLimits/container",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/defaultLimits/properties/container/pattern",keyword:"pattern",params:{pattern: "^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$"},message:"must match pattern \""+"^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$"+"\""};
if(vErrors === null){
vErrors = [err267];
}
else {
vErrors.push(err267);
}
errors++;
}
}
else {
const err268 = {instancePath:instancePath+"/nodes/localStorageEviction/defaultLimits/container",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/defaultLimits/properties/container/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err268];
}
else {
vErrors.push(err268);
}
errors++;
}
}
else {
const err269 = {instancePath:instancePath+"/nodes/localStorageEviction/defaultLimits",schemaPath:"#/properties/nodes/properties/localStorageEviction/properties/defaultLimits/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err269];
}
else {
vErrors.push(err269);
}
errors++;
}
}
}
else {
const err270 = {instancePath:instancePath+"/nodes/localStorageEviction",schemaPath:"#/properties/nodes/properties/localStorageEviction/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err270];
}
else {
vErrors.push(err270);
}
errors++;
}
}
if(data45.nodePressure !== undefined){
let data101 = data45.nodePressure;
if(data101 && typeof data101 == "object" && !Array.isArray(data101)){
if(data101.thresholds === undefined){
data101.thresholds = {};
}
if(data101.minimumReclaim === undefined){
data101.minimumReclaim = {};
}
if(data101.gracePeriod === undefined){
data101.gracePeriod = "1m";
}
if(data101.transitionPeriod === undefined){
data101.transitionPeriod = "5m";
}
if(data101.forecast === undefined){
data101.forecast = "1h";
}
if(data101.evictPods === undefined){
data101.evictPods = false;
}
for(const key26 in data101){
if(!((((((key26 === "thresholds") || (key26 === "minimumReclaim")) || (key26 === "gracePeriod")) || (key26 === "transitionPeriod")) || (key26 === "forecast")) || (key26 === "evictPods"))){
const err271 = {instancePath:instancePath+"/nodes/nodePressure",schemaPath:"#/properties/nodes/properties/nodePressure/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key26},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err271];
}
else {
vErrors.push(err271);
}
errors++;
}
}
let data102 = data101.thresholds;
if(data102 && typeof data102 == "object" && !Array.isArray(data102)){
if(data102["nodefs.available"] === undefined){
data102["nodefs.available"] = "15%";
}
if(data102["nodefs.inodesFree"] === undefined){
data102["nodefs.inodesFree"] = "10%";
}
if(data102["imagefs.available"] === undefined){
data102["imagefs.available"] = "20%";
}
if(data102["imagefs.inodesFree"] === undefined){
data102["imagefs.inodesFree"] = "10%";
}
if(data102["memory.available"] === undefined){
data102["memory.available"] = "500Mi";
}
for(const key27 in data102){
if(!(((((key27 === "nodefs.available") || (key27 === "nodefs.inodesFree")) || (key27 === "imagefs.available")) || (key27 === "imagefs.inodesFree")) || (key27 === "memory.available"))){
const err272 = {instancePath:instancePath+"/nodes/nodePressure/thresholds",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key27},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err272];
}
else {
vErrors.push(err272);
}
errors++;
}
}
let data103 = data102["nodefs.available"];
if(typeof data103 === "string"){
if(func2(data103) > 24){
const err273 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/nodefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/nodefs.available/maxLength",keyword:"maxLength",params:{limit: 24},message:"must NOT have more than 24 characters"};
if(vErrors === null){
vErrors = [err273];
}
else {
vErrors.push(err273);
}
errors++;
}
if(func2(data103) < 1){
const err274 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/nodefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/nodefs.available/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err274];
}
else {
vErrors.push(err274);
}
errors++;
}
if(!pattern25.test(data103)){
const err275 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/nodefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/nodefs.available/pattern",keyword:"pattern",params:{pattern: "^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"},message:"must match pattern \""+"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"+"\""};
if(vErrors === null){
vErrors = [err275];
}
else {
vErrors.push(err275);
}
errors++;
}
}
else {
const err276 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/nodefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/nodefs.available/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err276];
}
else {
vErrors.push(err276);
}
errors++;
}
let data104 = data102["nodefs.inodesFree"];
if(typeof data104 === "string"){
if(func2(data104) > 24){
const err277 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/nodefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/nodefs.inodesFree/maxLength",keyword:"maxLength",params:{limit: 24},message:"must NOT have more than 24 characters"};
if(vErrors === null){
vErrors = [err277];
}
else {
vErrors.push(err277);
}
errors++;
}
if(func2(data104) < 1){
const err278 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/nodefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/nodefs.inodesFree/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err278];
}
else {
vErrors.push(err278);
}
errors++;
}
if(!pattern25.test(data104)){
const err279 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/nodefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/nodefs.inodesFree/pattern",keyword:"pattern",params:{pattern: "^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"},message:"must match pattern \""+"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"+"\""};
if(vErrors === null){
vErrors = [err279];
}
else {
vErrors.push(err279);
}
errors++;
}
}
else {
const err280 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/nodefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/nodefs.inodesFree/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err280];
}
else {
vErrors.push(err280);
}
errors++;
}
let data105 = data102["imagefs.available"];
if(typeof data105 === "string"){
if(func2(data105) > 24){
const err281 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/imagefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/imagefs.available/maxLength",keyword:"maxLength",params:{limit: 24},message:"must NOT have more than 24 characters"};
if(vErrors === null){
vErrors = [err281];
}
else {
vErrors.push(err281);
}
errors++;
}
if(func2(data105) < 1){
const err282 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/imagefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/imagefs.available/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err282];
}
else {
vErrors.push(err282);
}
errors++;
}
if(!pattern25.test(data105)){
const err283 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/imagefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/imagefs.available/pattern",keyword:"pattern",params:{pattern: "^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"},message:"must match pattern \""+"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"+"\""};
if(vErrors === null){
vErrors = [err283];
}
else {
vErrors.push(err283);
}
errors++;
}
}
else {
const err284 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/imagefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/imagefs.available/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err284];
}
else {
vErrors.push(err284);
}
errors++;
}
let data106 = data102["imagefs.inodesFree"];
if(typeof data106 === "string"){
if(func2(data106) > 24){
const err285 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/imagefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/imagefs.inodesFree/maxLength",keyword:"maxLength",params:{limit: 24},message:"must NOT have more than 24 characters"};
if(vErrors === null){
vErrors = [err285];
}
else {
vErrors.push(err285);
}
errors++;
}
if(func2(data106) < 1){
const err286 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/imagefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/imagefs.inodesFree/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err286];
}
else {
vErrors.push(err286);
}
errors++;
}
if(!pattern25.test(data106)){
const err287 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/imagefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/imagefs.inodesFree/pattern",keyword:"pattern",params:{pattern: "^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"},message:"must match pattern \""+"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"+"\""};
if(vErrors === null){
vErrors = [err287];
}
else {
vErrors.push(err287);
}
errors++;
}
}
else {
const err288 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/imagefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/imagefs.inodesFree/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err288];
}
else {
vErrors.push(err288);
}
errors++;
}
let data107 = data102["memory.available"];
if(typeof data107 === "string"){
if(func2(data107) > 24){
const err289 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/memory.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/memory.available/maxLength",keyword:"maxLength",params:{limit: 24},message:"must NOT have more than 24 characters"};
if(vErrors === null){
vErrors = [err289];
}
else {
vErrors.push(err289);
}
errors++;
}
if(func2(data107) < 1){
const err290 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/memory.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/memory.available/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err290];
}
else {
vErrors.push(err290);
}
errors++;
}
if(!pattern25.test(data107)){
const err291 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/memory.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/memory.available/pattern",keyword:"pattern",params:{pattern: "^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"},message:"must match pattern \""+"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"+"\""};
if(vErrors === null){
vErrors = [err291];
}
else {
vErrors.push(err291);
}
errors++;
}
}
else {
const err292 = {instancePath:instancePath+"/nodes/nodePressure/thresholds/memory.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/properties/memory.available/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err292];
}
else {
vErrors.push(err292);
}
errors++;
}
}
else {
const err293 = {instancePath:instancePath+"/nodes/nodePressure/thresholds",schemaPath:"#/properties/nodes/properties/nodePressure/properties/thresholds/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err293];
}
else {
vErrors.push(err293);
}
errors++;
}
let data108 = data101.minimumReclaim;
if(data108 && typeof data108 == "object" && !Array.isArray(data108)){
for(const key28 in data108){
if(!((((key28 === "nodefs.available") || (key28 === "nodefs.inodesFree")) || (key28 === "imagefs.available")) || (key28 === "imagefs.inodesFree"))){
const err294 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key28},message:"must NOT have additional properties"};
if(vErrors === null){
vErrors = [err294];
}
else {
vErrors.push(err294);
}
errors++;
}
}
if(data108["nodefs.available"] !== undefined){
let data109 = data108["nodefs.available"];
if(typeof data109 === "string"){
if(func2(data109) > 24){
const err295 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/nodefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/nodefs.available/maxLength",keyword:"maxLength",params:{limit: 24},message:"must NOT have more than 24 characters"};
if(vErrors === null){
vErrors = [err295];
}
else {
vErrors.push(err295);
}
errors++;
}
if(func2(data109) < 1){
const err296 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/nodefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/nodefs.available/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err296];
}
else {
vErrors.push(err296);
}
errors++;
}
if(!pattern25.test(data109)){
const err297 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/nodefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/nodefs.available/pattern",keyword:"pattern",params:{pattern: "^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"},message:"must match pattern \""+"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"+"\""};
if(vErrors === null){
vErrors = [err297];
}
else {
vErrors.push(err297);
}
errors++;
}
}
else {
const err298 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/nodefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/nodefs.available/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err298];
}
else {
vErrors.push(err298);
}
errors++;
}
}
if(data108["nodefs.inodesFree"] !== undefined){
let data110 = data108["nodefs.inodesFree"];
if(typeof data110 === "string"){
if(func2(data110) > 24){
const err299 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/nodefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/nodefs.inodesFree/maxLength",keyword:"maxLength",params:{limit: 24},message:"must NOT have more than 24 characters"};
if(vErrors === null){
vErrors = [err299];
}
else {
vErrors.push(err299);
}
errors++;
}
if(func2(data110) < 1){
const err300 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/nodefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/nodefs.inodesFree/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err300];
}
else {
vErrors.push(err300);
}
errors++;
}
if(!pattern25.test(data110)){
const err301 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/nodefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/nodefs.inodesFree/pattern",keyword:"pattern",params:{pattern: "^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"},message:"must match pattern \""+"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"+"\""};
if(vErrors === null){
vErrors = [err301];
}
else {
vErrors.push(err301);
}
errors++;
}
}
else {
const err302 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/nodefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/nodefs.inodesFree/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err302];
}
else {
vErrors.push(err302);
}
errors++;
}
}
if(data108["imagefs.available"] !== undefined){
let data111 = data108["imagefs.available"];
if(typeof data111 === "string"){
if(func2(data111) > 24){
const err303 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/imagefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/imagefs.available/maxLength",keyword:"maxLength",params:{limit: 24},message:"must NOT have more than 24 characters"};
if(vErrors === null){
vErrors = [err303];
}
else {
vErrors.push(err303);
}
errors++;
}
if(func2(data111) < 1){
const err304 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/imagefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/imagefs.available/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err304];
}
else {
vErrors.push(err304);
}
errors++;
}
if(!pattern25.test(data111)){
const err305 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/imagefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/imagefs.available/pattern",keyword:"pattern",params:{pattern: "^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"},message:"must match pattern \""+"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"+"\""};
if(vErrors === null){
vErrors = [err305];
}
else {
vErrors.push(err305);
}
errors++;
}
}
else {
const err306 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/imagefs.available",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/imagefs.available/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err306];
}
else {
vErrors.push(err306);
}
errors++;
}
}
if(data108["imagefs.inodesFree"] !== undefined){
let data112 = data108["imagefs.inodesFree"];
if(typeof data112 === "string"){
if(func2(data112) > 24){
const err307 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/imagefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/imagefs.inodesFree/maxLength",keyword:"maxLength",params:{limit: 24},message:"must NOT have more than 24 characters"};
if(vErrors === null){
vErrors = [err307];
}
else {
vErrors.push(err307);
}
errors++;
}
if(func2(data112) < 1){
const err308 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/imagefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/imagefs.inodesFree/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};
if(vErrors === null){
vErrors = [err308];
}
else {
vErrors.push(err308);
}
errors++;
}
if(!pattern25.test(data112)){
const err309 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/imagefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/imagefs.inodesFree/pattern",keyword:"pattern",params:{pattern: "^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"},message:"must match pattern \""+"^([0-9]{1,2}(\\.[0-9]{1,3})?%|100%|[0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)$"+"\""};
if(vErrors === null){
vErrors = [err309];
}
else {
vErrors.push(err309);
}
errors++;
}
}
else {
const err310 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim/imagefs.inodesFree",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/properties/imagefs.inodesFree/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err310];
}
else {
vErrors.push(err310);
}
errors++;
}
}
}
else {
const err311 = {instancePath:instancePath+"/nodes/nodePressure/minimumReclaim",schemaPath:"#/properties/nodes/properties/nodePressure/properties/minimumReclaim/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err311];
}
else {
vErrors.push(err311);
}
errors++;
}
let data113 = data101.gracePeriod;
if(typeof data113 === "string"){
if(func2(data113) > 32){
const err312 = {instancePath:instancePath+"/nodes/nodePressure/gracePeriod",schemaPath:"#/properties/nodes/properties/nodePressure/properties/gracePeriod/maxLength",keyword:"maxLength",params:{limit: 32},message:"must NOT have more than 32 characters"};
if(vErrors === null){
vErrors = [err312];
}
else {
vErrors.push(err312);
}
errors++;
}
if(func2(data113) < 2){
const err313 = {instancePath:instancePath+"/nodes/nodePressure/gracePeriod",schemaPath:"#/properties/nodes/properties/nodePressure/properties/gracePeriod/minLength",keyword:"minLength",params:{limit: 2},message:"must NOT have fewer than 2 characters"};
if(vErrors === null){
vErrors = [err313];
}
else {
vErrors.push(err313);
}
errors++;
}
if(!pattern7.test(data113)){
const err314 = {instancePath:instancePath+"/nodes/nodePressure/gracePeriod",schemaPath:"#/properties/nodes/properties/nodePressure/properties/gracePeriod/pattern",keyword:"pattern",params:{pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"},message:"must match pattern \""+"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"+"\""};
if(vErrors === null){
vErrors = [err314];
}
else {
vErrors.push(err314);
}
errors++;
}
}
else {
const err315 = {instancePath:instancePath+"/nodes/nodePressure/gracePeriod",schemaPath:"#/properties/nodes/properties/nodePressure/properties/gracePeriod/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err315];
}
else {
vErrors.push(err315);
}
errors++;
}
let data114 = data101.transitionPeriod;
if(typeof data114 === "string"){
if(func2(data114) > 32){
const err316 = {instancePath:instancePath+"/nodes/nodePressure/transitionPeriod",schemaPath:"#/properties/nodes/properties/nodePressure/properties/transitionPeriod/maxLength",keyword:"maxLength",params:{limit: 32},message:"must NOT have more than 32 characters"};
if(vErrors === null){
vErrors = [err316];
}
else {
vErrors.push(err316);
}
errors++;
}
if(func2(data114) < 2){
const err317 = {instancePath:instancePath+"/nodes/nodePressure/transitionPeriod",schemaPath:"#/properties/nodes/properties/nodePressure/properties/transitionPeriod/minLength",keyword:"minLength",params:{limit: 2},message:"must NOT have fewer than 2 characters"};
if(vErrors === null){
vErrors = [err317];
}
else {
vErrors.push(err317);
}
errors++;
}
if(!pattern7.test(data114)){
const err318 = {instancePath:instancePath+"/nodes/nodePressure/transitionPeriod",schemaPath:"#/properties/nodes/properties/nodePressure/properties/transitionPeriod/pattern",keyword:"pattern",params:{pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"},message:"must match pattern \""+"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"+"\""};
if(vErrors === null){
vErrors = [err318];
}
else {
vErrors.push(err318);
}
errors++;
}
}
else {
const err319 = {instancePath:instancePath+"/nodes/nodePressure/transitionPeriod",schemaPath:"#/properties/nodes/properties/nodePressure/properties/transitionPeriod/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err319];
}
else {
vErrors.push(err319);
}
errors++;
}
let data115 = data101.forecast;
if(typeof data115 === "string"){
if(func2(data115) > 32){
const err320 = {instancePath:instancePath+"/nodes/nodePressure/forecast",schemaPath:"#/properties/nodes/properties/nodePressure/properties/forecast/maxLength",keyword:"maxLength",params:{limit: 32},message:"must NOT have more than 32 characters"};
if(vErrors === null){
vErrors = [err320];
}
else {
vErrors.push(err320);
}
errors++;
}
if(func2(data115) < 2){
const err321 = {instancePath:instancePath+"/nodes/nodePressure/forecast",schemaPath:"#/properties/nodes/properties/nodePressure/properties/forecast/minLength",keyword:"minLength",params:{limit: 2},message:"must NOT have fewer than 2 characters"};
if(vErrors === null){
vErrors = [err321];
}
else {
vErrors.push(err321);
}
errors++;
}
if(!pattern7.test(data115)){
const err322 = {instancePath:instancePath+"/nodes/nodePressure/forecast",schemaPath:"#/properties/nodes/properties/nodePressure/properties/forecast/pattern",keyword:"pattern",params:{pattern: "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"},message:"must match pattern \""+"^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"+"\""};
if(vErrors === null){
vErrors = [err322];
}
else {
vErrors.push(err322);
}
errors++;
}
}
else {
const err323 = {instancePath:instancePath+"/nodes/nodePressure/forecast",schemaPath:"#/properties/nodes/properties/nodePressure/properties/forecast/type",keyword:"type",params:{type: "string"},message:"must be string"};
if(vErrors === null){
vErrors = [err323];
}
else {
vErrors.push(err323);
}
errors++;
}
if(typeof data101.evictPods !== "boolean"){
const err324 = {instancePath:instancePath+"/nodes/nodePressure/evictPods",schemaPath:"#/properties/nodes/properties/nodePressure/properties/evictPods/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};
if(vErrors === null){
vErrors = [err324];
}
else {
vErrors.push(err324);
}
errors++;
}
}
else {
const err325 = {instancePath:instancePath+"/nodes/nodePressure",schemaPath:"#/properties/nodes/properties/nodePressure/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err325];
}
else {
vErrors.push(err325);
}
errors++;
}
}
}
else {
const err326 = {instancePath:instancePath+"/nodes",schemaPath:"#/properties/nodes/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err326];
}
else {
vErrors.push(err326);
}
errors++;
}
}
}
else {
const err327 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};
if(vErrors === null){
vErrors = [err327];
}
else {
vErrors.push(err327);
}
errors++;
}
validate10.errors = vErrors;
return errors === 0;
}
