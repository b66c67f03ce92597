module github.com/procfit/procfit/test/automaxprocs

go 1.26.0

require (
	github.com/procfit/procfit/maxprocs v0.0.0
	go.uber.org/automaxprocs v1.6.0
)

require github.com/stretchr/testify v1.12.1 // indirect

replace github.com/procfit/procfit/maxprocs => ../../maxprocs
