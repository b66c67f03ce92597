package rule

func limitsOffInSource() Rule {
	return Rule{
		ID:       "PF033",
		Title:    "a setting in the source that keeps programs from their limit",
		Severity: Warning,
		Since:    "0.1",
		By:       "source",
		Why: `A //go:debug line of a main package, and a godebug line of go.mod or go.work, is
linked into the program: containermaxprocs=0 keeps it from reading its CPU limit,
default= of an older release does so too, and updatemaxprocs=0 keeps it at the limit
that it was started with, which is an info.`,
		Fix: `Remove the setting: the runtime then chooses the limit rounded up, at least 2, and follows it.`,
	}
}
