module example.org/new

go 1.25

require (
	github.com/spf13/pflag v0.0.0
	go.uber.org/automaxprocs v0.0.0
	golang.org/x/sync v0.0.0
)

replace (
	github.com/spf13/pflag => ../stub/pflag
	go.uber.org/automaxprocs => ../stub/automaxprocs
	golang.org/x/sync => ../stub/errgroup
)
