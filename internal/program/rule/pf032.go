package rule

func oldGoLine() Rule {
	return Rule{
		ID:       "PF032",
		Title:    "a go line that keeps programs from their limit",
		Severity: Info,
		Since:    "0.1",
		By:       "source",
		Why: `The go line of the module that holds main decides, whatever toolchain builds it: below
go 1.25 the program takes a P for every CPU of the machine and reads no CPU limit.
It is reported where the module has a main package and nothing in it deals with the
limit; for a library the line says nothing, since the program's own line counts.`,
		Fix: `go mod edit -go=1.25, or import github.com/procfit/procfit/maxprocs/auto in main; without
a CPU limit there is nothing to do.`,
	}
}
