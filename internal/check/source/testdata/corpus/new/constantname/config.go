package main

const procs = 4
