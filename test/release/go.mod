module github.com/procfit/procfit/test/release

go 1.26.0

require (
	golang.org/x/exp v0.0.0-20260824195058-e88cd73687aa
	golang.org/x/tools v0.49.0
)

require (
	github.com/procfit/procfit/maxprocs v0.0.0
	golang.org/x/mod v0.39.0
	golang.org/x/sync v0.22.0 // indirect
)

replace github.com/procfit/procfit/maxprocs => ../../maxprocs
