module example.com/laggards

go 1.26.0
