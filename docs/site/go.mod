module github.com/procfit/procfit/docs/site

go 1.26.0

require (
	github.com/procfit/procfit v0.0.0
	github.com/yuin/goldmark v1.8.7
)

replace github.com/procfit/procfit => ../..

replace github.com/procfit/procfit/maxprocs => ../../maxprocs
