/** A CRD as a template of the chart: the unchanged file with the chart's labels and annotations, if `crds.enabled`. */
export function crdTemplate(source, text) {
  if (text.includes('{{')) throw new Error(`${source}: helm would interpret {{`);
  const [head, ...more] = text.split(/^(?=spec:$)/m);
  const name = /^metadata:\n {2}name: (\S+)\n$/m.exec(head)?.[1];
  if (name === undefined || more.length !== 1)
    throw new Error(`${source}: must have metadata with only a name, then spec`);
  return `{{- /* Made from ${source} by npm run generate. Do not edit. */}}
{{- if .Values.crds.enabled }}
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${name}
  {{- include "dustpan.metadata" (dict "root" . "component" "crds" "annotations" (merge (dict) .Values.crds.annotations (ternary (dict "helm.sh/resource-policy" "keep") dict .Values.crds.keep))) | nindent 2 }}
${more[0].trimEnd()}
{{- end }}
`;
}
