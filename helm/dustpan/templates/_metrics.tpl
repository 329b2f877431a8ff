{{/* "true" where an object of the Prometheus operator is to be rendered; root, values (with enabled and renderMode), kind. */}}
{{- define "dustpan.monitored" -}}
{{- if and .values.enabled .root.Values.metrics.enabled -}}
{{- $isThere := or (.root.Capabilities.APIVersions.Has (printf "monitoring.coreos.com/v1/%s" .kind)) (.root.Capabilities.APIVersions.Has "monitoring.coreos.com/v1") -}}
{{- if or $isThere (eq .values.renderMode "alwaysRender") -}}
true
{{- else if eq .values.renderMode "failIfMissing" -}}
{{- fail (printf "the cluster has no %s (monitoring.coreos.com/v1): install the Prometheus operator first, or choose another renderMode (when rendering without a cluster: --api-versions monitoring.coreos.com/v1)" .kind) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* "true" where a monitor of the pods of a component is rendered; root, component. */}}
{{- define "dustpan.hasMonitor" -}}
{{- $metrics := .root.Values.metrics -}}
{{- if or (eq .component "controller") $metrics.serviceMonitor.agents -}}
{{- include "dustpan.monitored" (dict "root" .root "values" $metrics.serviceMonitor "kind" "ServiceMonitor") -}}
{{- end -}}
{{- if eq .component "agent" -}}
{{- include "dustpan.monitored" (dict "root" .root "values" $metrics.podMonitor "kind" "PodMonitor") -}}
{{- end -}}
{{- end }}

{{/* "true" where /metrics is served over TLS. */}}
{{- define "dustpan.isSecure" -}}
{{- if and .Values.metrics.enabled .Values.metrics.secure.enabled -}}true{{- end -}}
{{- end }}

{{/* "true" where /metrics answers only to who may get it. */}}
{{- define "dustpan.isAuthenticated" -}}
{{- if and (include "dustpan.isSecure" .) .Values.metrics.secure.auth -}}true{{- end -}}
{{- end }}

{{/* The Secret with tls.crt, tls.key and ca.crt. */}}
{{- define "dustpan.metricsSecret" -}}
{{- $tls := .Values.metrics.secure.tls -}}
{{- if eq $tls.type "existingSecret" -}}
{{- required "metrics.secure.tls.existingSecret.name is needed with metrics.secure.tls.type: existingSecret" $tls.existingSecret.name -}}
{{- else -}}
{{- include "dustpan.fullname" . }}-metrics-tls
{{- end -}}
{{- end }}

{{/* The name that the certificate is verified with; root and name (of the Service). */}}
{{- define "dustpan.serverName" -}}
{{- printf "%s.%s.svc" .name (include "dustpan.namespace" .root) -}}
{{- end }}

{{/* The lines of an endpoint of a monitor; root, values, name (of the Service), component. */}}
{{- define "dustpan.endpoint" -}}
port: metrics
path: /metrics
{{- if include "dustpan.isSecure" .root }}
scheme: https
tlsConfig:
  serverName: {{ include "dustpan.serverName" . }}
  ca:
    secret: {name: {{ include "dustpan.metricsSecret" .root }}, key: ca.crt}
{{- end }}
{{- if and .values.authorization (include "dustpan.isAuthenticated" .root) }}
authorization:
  {{- toYaml .values.authorization | nindent 2 }}
{{- end }}
relabelings:
  # The rules go by this job, whatever the release is called.
  - {targetLabel: job, replacement: dustpan-{{ .component }}, action: replace}
  - {sourceLabels: [__meta_kubernetes_pod_node_name], targetLabel: node, action: replace}
  {{- with .values.endpoint.relabelings }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with omit .values.endpoint "relabelings" }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Rules of who serves /metrics only to some; nothing where it is served to all. */}}
{{- define "dustpan.reviewRules" -}}
{{- if include "dustpan.isAuthenticated" . -}}
# who reads /metrics: whose token that is
- {apiGroups: [authentication.k8s.io], resources: [tokenreviews], verbs: [create]}
# and whether this one may
- {apiGroups: [authorization.k8s.io], resources: [subjectaccessreviews], verbs: [create]}
{{- end -}}
{{- end }}
