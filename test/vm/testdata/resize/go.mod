module example.com/resize

go 1.25.0

require github.com/procfit/procfit/maxprocs v0.0.0

replace github.com/procfit/procfit/maxprocs => ../../../../maxprocs
