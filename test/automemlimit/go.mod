module github.com/procfit/procfit/test/automemlimit

go 1.26.0

require (
	github.com/KimMachineGun/automemlimit v1.0.1
	github.com/procfit/procfit/maxprocs v0.0.0
)

require github.com/pbnjay/memory v0.0.0-20210728143218-7b4eea64cf58 // indirect

replace github.com/procfit/procfit/maxprocs => ../../maxprocs
