module oracle

go 1.25
