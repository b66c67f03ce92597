module example.com/resize

go 1.21

require github.com/procfit/procfit/maxprocs v0.0.0

replace github.com/procfit/procfit/maxprocs => ../../../../maxprocs
