package rule

func liveDiffers() Rule {
	return Rule{
		ID:       "PF050",
		Title:    "a pod that runs with another value than its spec gives",
		Severity: Warning,
		Since:    "0.1",
		By:       "cluster",
		Why: `A pod's spec is not always what its programs run with. A variable that is drawn from
a limit is written once, when the container starts: a resize in place changes the
limit and not the variable. A container runtime may put GOMAXPROCS in, which the
API does not show, an image may have it, and the program may set it itself. The
exporter on the node reads the live value; without it only a resize is reported, as an
info.`,
		Fix: `Let one place decide: restart a pod that was resized, remove the variable where the runtime of Go 1.25 or newer follows the limit, or see who sets it with procfit explain --pid on the node.`,
	}
}
