module github.com/procfit/procfit/maxprocs

go 1.21
