/** Accept headers: what form an answer may have, the best first. */

export const acceptJson = 'application/json';
export const acceptProtobuf = 'application/vnd.kubernetes.protobuf,application/json';

/** A pod is 5 to 60 KB; of the answer to an act only the metadata is wanted. */
export const acceptMetadata = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';
/** Where only the status of the answer is read: what costs both sides least. */
export const acceptCheapest = `application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,${acceptMetadata}`;
