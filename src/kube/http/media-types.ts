/** Accept headers: the forms that a response may have, the best first. */

export const acceptJson = 'application/json';
export const acceptProtobuf = 'application/vnd.kubernetes.protobuf,application/json';

/** For responses of which only the metadata is read: a whole pod is 5 to 60 KB. */
export const acceptMetadata = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';
export const acceptMetadataList =
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';
/** For responses of which only the HTTP status is read: the cheapest form for both sides. */
export const acceptCheapest = `application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,${acceptMetadata}`;
