package rule

func setenvInCode() Rule {
	return Rule{
		ID:       "PF026",
		Title:    "GOMAXPROCS put into the program's own environment",
		Severity: Warning,
		Since:    "0.1",
		By:       "source",
		Why: `The runtime reads GOMAXPROCS once, before any code of the program runs. os.Setenv
changes what children inherit, and nothing in the program itself. Where the package
starts children, it is an info: it may be meant for them.`,
		Fix: `Call runtime.GOMAXPROCS, or leave the choice to the runtime; for a child, add the
variable to the Env of its command.`,
	}
}
