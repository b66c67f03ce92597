// A file for others is left out, and what is built here is not.
package main

func main() { tune() }
