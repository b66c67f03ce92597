package rule

func injected() Rule {
	return Rule{
		ID:       "PF051",
		Title:    "a GOMAXPROCS that is in the pod and not in its template",
		Severity: Info,
		Since:    "0.1",
		By:       "cluster",
		Why: `Webhooks that admit pods may add variables. Whoever reads the Deployment then does not
see a GOMAXPROCS that every pod has, and a fix of the file has no effect. Such webhooks rarely know the version of the program: from Go 1.25 on the
variable stands in the way of the runtime, which follows the limit by itself.`,
		Fix: `See who adds it (kubectl get mutatingwebhookconfigurations), and exempt programs built with Go 1.25 or newer.`,
	}
}
