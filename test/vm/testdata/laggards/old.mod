module example.com/laggards

go 1.24.0
