module github.com/procfit/procfit/test/browser

go 1.26.0

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.22.1
)

require (
	golang.org/x/tools v0.49.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/procfit/procfit v0.0.0
)

replace github.com/procfit/procfit => ../..

replace github.com/procfit/procfit/maxprocs => ../../maxprocs
