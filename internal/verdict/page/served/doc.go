// Package served serves the report of a sweep while it runs: the page that the results
// folder gets at the end, renewed after each trial, with a line on what runs now. It
// needs no script: the browser loads it again every few seconds.
//
// What a page costs must not be taken from a trial. A page is rendered when Show is
// called, which is between trials; a request is answered from memory, and one for a page
// that the browser has already by its tag alone. What serving takes is CPU time of
// procfit's own, and counted as that.
//
// It is for eyes on this machine: without a host the address is the loopback's, and there
// a request that names another host, as a page from elsewhere can make a browser do, is
// refused. There is no encryption and no password.
package served
