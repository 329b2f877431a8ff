{{/* Names and labels. A component is "controller" or "agent"; what is not one's own passes the root as "root". */}}

{{- define "dustpan.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* At most 50, so that every suffix fits into 63. */}}
{{- define "dustpan.fullname" -}}
{{- $name := include "dustpan.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "dustpan.controller.fullname" -}}
{{- include "dustpan.fullname" . }}-controller
{{- end }}

{{- define "dustpan.agent.fullname" -}}
{{- include "dustpan.fullname" . }}-agent
{{- end }}

{{/* Cluster-scoped objects of two releases must not meet. */}}
{{- define "dustpan.clusterName" -}}
{{- $fullname := include "dustpan.fullname" . -}}
{{- $namespace := include "dustpan.namespace" . -}}
{{- if or (eq $namespace $fullname) (hasPrefix (printf "%s-" $fullname) $namespace) -}}
{{- $namespace -}}
{{- else -}}
{{- printf "%s-%s" $namespace $fullname -}}
{{- end -}}
{{- end }}

{{- define "dustpan.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end }}

{{- define "dustpan.controller.serviceAccountName" -}}
{{- with .Values.controller.serviceAccount -}}
{{- default (ternary (include "dustpan.controller.fullname" $) "default" .create) .name -}}
{{- end -}}
{{- end }}

{{- define "dustpan.agent.serviceAccountName" -}}
{{- with .Values.agent.serviceAccount -}}
{{- default (ternary (include "dustpan.agent.fullname" $) "default" .create) .name -}}
{{- end -}}
{{- end }}

{{/* What never changes in the life of a release: selectors may not. */}}
{{- define "dustpan.selectorLabels" -}}
app.kubernetes.io/name: {{ include "dustpan.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Labels of an object; root, component, and perhaps labels of its own. */}}
{{- define "dustpan.labels" -}}
{{- $fixed := dict
  "app.kubernetes.io/name" (include "dustpan.name" .root)
  "app.kubernetes.io/instance" .root.Release.Name
  "app.kubernetes.io/component" .component
  "app.kubernetes.io/part-of" "dustpan"
  "app.kubernetes.io/version" (.root.Chart.AppVersion | replace "+" "_" | trunc 63)
  "app.kubernetes.io/managed-by" .root.Release.Service
  "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-") -}}
{{- merge $fixed (default dict .labels) .root.Values.commonLabels | toYaml -}}
{{- end }}

{{/* Labels of pods: without those that would start them anew at every change of the chart. */}}
{{- define "dustpan.podLabels" -}}
{{- $fixed := dict
  "app.kubernetes.io/name" (include "dustpan.name" .root)
  "app.kubernetes.io/instance" .root.Release.Name
  "app.kubernetes.io/component" .component
  "app.kubernetes.io/part-of" "dustpan"
  "app.kubernetes.io/managed-by" .root.Release.Service -}}
{{- merge $fixed (default dict .labels) .root.Values.commonLabels | toYaml -}}
{{- end }}

{{/* The lines of metadata below the name; root, component, labels, annotations. */}}
{{- define "dustpan.metadata" -}}
labels:
  {{- include "dustpan.labels" . | nindent 2 }}
{{- $annotations := merge (dict) (default dict .annotations) .root.Values.commonAnnotations }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "dustpan.leaseName" -}}
{{- default (include "dustpan.controller.fullname" .) .Values.controller.leaderElection.resourceName -}}
{{- end }}
