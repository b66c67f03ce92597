module go.uber.org/automaxprocs

go 1.20
