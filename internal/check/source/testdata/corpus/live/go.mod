module example.org/live

go 1.26

require github.com/procfit/procfit/maxprocs v0.0.0

replace github.com/procfit/procfit/maxprocs => ../stub/live
