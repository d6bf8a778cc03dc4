{{- define "askback.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "askback.environment" -}}
envFrom:
  - configMapRef: {name: {{ .Release.Name }}}
  - secretRef: {name: {{ .Values.secret }}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "askback.pod" -}}
automountServiceAccountToken: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 990
  runAsGroup: 990
  fsGroup: 990
  seccompProfile: {type: RuntimeDefault}
{{- end }}
