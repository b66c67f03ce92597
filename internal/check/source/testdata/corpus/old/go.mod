module example.org/old

go 1.24

require go.uber.org/automaxprocs v0.0.0

replace go.uber.org/automaxprocs => ../stub/automaxprocs
