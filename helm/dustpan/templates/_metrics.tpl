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

{{/* The lines of an endpoint of a monitor; values, component. */}}
{{- define "dustpan.endpoint" -}}
port: metrics
path: /metrics
{{- with .values.interval }}
interval: {{ . }}
{{- end }}
{{- with .values.scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- if .values.honorLabels }}
honorLabels: true
{{- end }}
relabelings:
  # The rules go by this job, whatever the release is called.
  - {targetLabel: job, replacement: dustpan-{{ .component }}, action: replace}
  - {sourceLabels: [__meta_kubernetes_pod_node_name], targetLabel: node, action: replace}
  {{- with .values.relabelings }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .values.metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
