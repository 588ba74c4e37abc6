{{- define "cairn.pod" -}}
automountServiceAccountToken: false
securityContext: {runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001, seccompProfile: {type: RuntimeDefault}}
{{- end }}

{{- define "cairn.container" -}}
image: {{ .root.Values.image }}
securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
envFrom:
  - secretRef: {name: {{ .root.Values.objectsSecret }}}
{{- if and (eq .role "node") .root.Values.signInSecret }}
  - secretRef: {name: {{ .root.Values.signInSecret }}}
{{- end }}
env:
  - {name: CAIRN_TEAM_OBJECTS, value: {{ .root.Values.objects | quote }}}
  - name: CAIRN_TEAM_DATABASE
    valueFrom: {secretKeyRef: {name: {{ index .root.Values.databaseSecrets .role }}, key: address}}
{{- end }}
